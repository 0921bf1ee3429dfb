from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.shared_data import SWITCH

QUESTION = "How many red cubes are there?"
GOLD = "return cubes ;return #1 that are red ;return number of #2"
PREDICTIONS = {"1": ("return red cubes ;return number of #1", True), "2": ("return cubes ;return number of #1", False)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two pairs of each system, and one question that two people decomposed."""
    (tmp_path / "reference").mkdir()
    (tmp_path / "break").mkdir()
    pairs = [
        {"question_id": name, "question": QUESTION, "gold": GOLD, "prediction": prediction, "lf_em": equal}
        for name, (prediction, equal) in PREDICTIONS.items()
    ]
    for system in ("a", "b"):
        (tmp_path / "reference" / f"lf_em_{system}.jsonl").write_text("\n".join(map(json.dumps, pairs)) + "\n")
    header = "question_id,question_text,decomposition\n"
    (tmp_path / "break" / "train.csv").write_text(f"{header}CLEVR_train_1,{QUESTION},{GOLD}\n")
    other = "return red cubes ;return number of #1"
    (tmp_path / "break" / "dev.csv").write_text(f"{header}CLEVR_dev_1,how many red cubes are there,{other}\n")
    return tmp_path


def run(project_root: Path, folder: Path | None, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, SWITCH: str(folder or ""), "COLUMNS": "200"}
    script = project_root / "scripts" / "lf_eq_study.py"
    return subprocess.run(
        [sys.executable, str(script), *arguments], env=environment, capture_output=True, text=True, check=False
    )


def rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_pairs_and_people_are_compared(project_root: Path, folder: Path) -> None:
    reference = run(project_root, folder, "reference")
    assert reference.returncode == 0, reference.stderr
    assert ["a", "1", "100.00%", "0", "1", "0", "0"] in [row[:7] for row in rows(reference.stdout)]
    people = run(project_root, folder, "people")
    assert ["all", "1", "100.00%", "100.00%"] in rows(people.stdout)


def test_changes_are_counted_by_kind(project_root: Path, folder: Path) -> None:
    changed = run(project_root, folder, "changes", "--questions", "1")
    assert changed.returncode == 0, changed.stderr
    (total,) = [row for row in rows(changed.stdout) if row[:2] == ["all", "without"]]
    assert int(total[4]) >= 3
    assert total[5] == "0"


def test_without_the_data_one_line_says_what_to_set(project_root: Path) -> None:
    refused = run(project_root, None, "labels")
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1
    assert SWITCH in refused.stderr
