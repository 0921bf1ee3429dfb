"""Predictions for Break's leaderboard: a row for each question, in the order of the file."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from qdecomp import evaluate
from tests.cli_runs import refusal, run_qdecomp, write_json_lines


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Four test questions without decompositions, and records in another order, of which one is missing."""
    questions = ["a,Which cubes are red?", "b,Which cubes are blue; really?", '"c","Who, or what?"', "d,Why?"]
    (tmp_path / "test.csv").write_text("\n".join(["question_id,question_text", *questions]), encoding="utf-8")
    records = [
        {"question_id": "c", "decomposition": "return who ;return what , or #1"},
        {"question_id": "b", "decomposition": None, "error": "no plan"},
        {"question_id": "a", "decomposition": "return cubes ;return #1 that are red"},
    ]
    write_json_lines(tmp_path / "predictions.jsonl", records)
    return tmp_path


def test_every_question_has_a_row(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = files / "out" / "leaderboard.csv"
    names = ("--questions", files / "test.csv", "--predictions", files / "predictions.jsonl")
    assert run_qdecomp("leaderboard", *names, "--output", output) == 0
    with output.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream))
    assert rows == [
        ["decomposition"],
        ["return cubes ;return #1 that are red"],
        ["return Which cubes are blue, really?"],
        ["return who ;return what , or #1"],
        ["return Why?"],
    ]
    assert "4 rows; 2 of them without a decomposition" in capsys.readouterr().err
    scores = evaluate([("Which cubes are red?", "return cubes ;return #1 that are red")] * 4, output, "em")
    assert scores["em"].mean == 0.25


@pytest.mark.parametrize(
    ("questions", "message"),
    [
        ("question_id,question_text\na,x\na,y\n", "row 2 has the question_id of row 1: a"),
        ("question_id,question_text\n", "there are no questions in it"),
        ("question_id,question_text\nz,x\n", "none of its questions is in"),
    ],
)
def test_files_that_do_not_fit_are_refused(files: Path, questions: str, message: str) -> None:
    (files / "test.csv").write_text(questions, encoding="utf-8")
    names = ("--questions", files / "test.csv", "--predictions", files / "predictions.jsonl")
    assert message in refusal("leaderboard", *names, "--output", files / "leaderboard.csv")
    assert not (files / "leaderboard.csv").exists()
