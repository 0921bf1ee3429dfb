"""Which rows of Break's dev set the bundled parser has not seen."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]

# The number after each question follows from the rule in the README.
QUESTIONS = {"What is  Ann's #1 book ?": 18, "which HATS are red": 43, "How many rivers are there?": 77}


@pytest.mark.parametrize(
    ("arguments", "ids"),
    [((), ["18"]), (("--part", "development"), ["43"]), (("--part", "training"), ["77"])],
)
def test_the_ids_of_each_part_are_printed(run: Run, tmp_path: Path, arguments: tuple[str, ...], ids: list[str]) -> None:
    path = tmp_path / "dev.csv"
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["question_id", "question_text", "decomposition"])
        writer.writerows([number, question, "return x"] for question, number in QUESTIONS.items())
    result = run("clean_ids", path, *arguments)
    assert result.stdout.split() == ids
    assert "1 of 3 rows" in result.stderr


def test_all_rows_of_the_project_s_development_set_are_development_rows(run: Run, shared_path: Path) -> None:
    result = run("clean_ids", shared_path / "break" / "dev.csv")
    assert result.stdout == ""
    assert "0 of 1,524 rows" in result.stderr
