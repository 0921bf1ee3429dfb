"""Which rows of Break's dev set the bundled parser has not seen."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest

# The number after each question follows from the rule in the README.
QUESTIONS = {"What is  Ann's #1 book ?": 18, "which HATS are red": 43, "How many rivers are there?": 77}


def run(project_root: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(project_root / "scripts" / "clean_ids.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("arguments", "ids"),
    [((), ["18"]), (("--part", "development"), ["43"]), (("--part", "training"), ["77"])],
)
def test_the_ids_of_each_part_are_printed(
    project_root: Path, tmp_path: Path, arguments: tuple[str, ...], ids: list[str]
) -> None:
    path = tmp_path / "dev.csv"
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["question_id", "question_text", "decomposition"])
        writer.writerows([number, question, "return x"] for question, number in QUESTIONS.items())
    result = run(project_root, path, *arguments)
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == ids
    assert "1 of 3 rows" in result.stderr


def test_all_rows_of_the_project_s_development_set_are_development_rows(project_root: Path, shared_path: Path) -> None:
    result = run(project_root, shared_path / "break" / "dev.csv")
    assert result.stdout == ""
    assert "0 of 1,524 rows" in result.stderr
