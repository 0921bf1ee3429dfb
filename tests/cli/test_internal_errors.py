"""A row on which the code itself fails stops no command: all others are done, and the exit code is 1."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from qdecomp.data_structures import lf_em
from qdecomp.data_structures.conversion import qdmr_to_lf
from qdecomp.data_structures.tokenization import tokenize
from tests.cli_runs import json_lines, run_qdecomp, write_json_lines

GOLD = """question_id,question_text,decomposition
GEO_dev_1,What are the rivers?,return rivers
GEO_dev_2,What are the boom?,return boom
GEO_dev_3,What are the lakes?,return lakes
"""
PREDICTIONS = [
    {"question_id": f"GEO_dev_{number}", "question": f"What are the {word}?", "decomposition": f"return {word}"}
    for number, word in enumerate(("rivers", "boom", "lakes"), start=1)
]
TOLD = "1 row failed with an internal error"


@pytest.fixture(autouse=True)
def broken_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """The code fails on one word, in what every command does with a decomposition."""
    reader: Callable[..., Any] = lf_em.read_step

    def broken(step: Any) -> Any:
        return [][1] if step.text == "boom" else reader(step)

    for module in (qdmr_to_lf, lf_em):
        monkeypatch.setattr(module, "read_step", broken)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "gold.csv").write_text(GOLD)
    write_json_lines(tmp_path / "predictions.jsonl", PREDICTIONS)
    return tmp_path


SCORED = "--gold gold.csv --predictions predictions.jsonl"


@pytest.mark.parametrize(
    ("arguments", "name", "field"),
    [
        ("convert --input gold.csv --output graphs.jsonl", "graphs.jsonl", "graph"),
        (f"evaluate {SCORED} --details lines.jsonl", "lines.jsonl", "lf_em"),
        (f"report {SCORED} --output report", "report/index.html", None),
        ("render --input predictions.jsonl --output page.html", "page.html", None),
        ("render --input predictions.jsonl --gold gold.csv --output page.html", "page.html", None),
    ],
)
def test_all_other_rows_are_done(
    files: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: str,
    name: str,
    field: str | None,
) -> None:
    monkeypatch.chdir(files)
    assert run_qdecomp(*arguments.split()) == 1
    captured = capsys.readouterr()
    assert TOLD in captured.err
    assert "IndexError in test_internal_errors.py" in (files / name).read_text(encoding="utf-8")
    if field is not None:
        # The reason is counted.
        assert "IndexError in test_internal_errors.py" in captured.out
        records = json_lines(files / name)
        assert [bool(record[field]) for record in records] == [True, False, True]
        # A metric that does not need the broken code is unaffected.
        assert all(record.get("exact_match", True) for record in records)
        # Also of a run that goes on.
        assert run_qdecomp(*arguments.split()) == 1


def test_parse_gives_the_others_their_answers(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("onnxruntime")

    def broken(question: str) -> tuple[str, ...]:
        return [][1] if "boom" in question else tokenize(question)

    monkeypatch.setattr("qdecomp.parsers.pieces.question_words", broken)
    questions = files / "questions.txt"
    questions.write_text("which rivers are long ?\nwhich boom is long ?\nwhich lakes are deep ?\n")
    assert run_qdecomp("parse", "--input", questions, "--output", files / "out.jsonl") == 1
    records = json_lines(files / "out.jsonl")
    assert ["internal_error" in record for record in records] == [False, True, False]
    assert [record["decomposition"] is not None for record in records] == [True, False, True]
    assert TOLD in capsys.readouterr().err
    assert run_qdecomp("parse", "which boom is long ?", "which lakes are deep ?") == 1


def test_a_question_that_speaks_of_internal_errors_is_an_ordinary_one(tmp_path: Path) -> None:
    sentence = "What is an internal error, please report it: IndexError in a.py:3?"
    record = {"question_id": "a", "question": sentence, "decomposition": "return internal error, please report it"}
    predictions = write_json_lines(tmp_path / "predictions.jsonl", [record])
    assert run_qdecomp("render", "--input", predictions, "--output", tmp_path / "page.html") == 0
