"""A row on which the code itself fails stops no command: all others are done, and the exit code is 1."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from qdecomp.data_structures import lf_em
from qdecomp.data_structures.conversion import qdmr_to_lf
from qdecomp.data_structures.tokenization import tokenize
from tests.cli_runs import json_lines, run_qdecomp

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
    (tmp_path / "predictions.jsonl").write_text("\n".join(map(json.dumps, PREDICTIONS)))
    return tmp_path


def test_convert_counts_it_also_when_it_goes_on(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("convert", "--input", files / "gold.csv", "--output", files / "graphs.jsonl")
    assert run_qdecomp(*arguments) == 1
    captured = capsys.readouterr()
    assert "IndexError in test_internal_errors.py" in captured.out
    assert TOLD in captured.err
    records = json_lines(files / "graphs.jsonl")
    assert [record["graph"] is not None for record in records] == [True, False, True]
    assert ["internal_error" in record for record in records] == [False, True, False]
    assert run_qdecomp(*arguments) == 1


def test_evaluate_counts_it_as_wrong(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ("--gold", files / "gold.csv", "--predictions", files / "predictions.jsonl")
    assert run_qdecomp("evaluate", *given, "--details", files / "details.jsonl") == 1
    captured = capsys.readouterr()
    assert "IndexError in test_internal_errors.py" in captured.out
    assert TOLD in captured.err
    details = json_lines(files / "details.jsonl")
    assert [line["lf_em"] for line in details] == [True, False, True]
    assert details[1]["errors"]["lf_em"].startswith("internal error")
    # A metric that does not need the broken code is unaffected.
    assert details[1]["exact_match"] is True


def test_report_shows_it(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("jinja2")
    given = ("--gold", files / "gold.csv", "--predictions", files / "predictions.jsonl")
    assert run_qdecomp("report", *given, "--output", files / "report") == 1
    assert TOLD in capsys.readouterr().err
    assert "IndexError in test_internal_errors.py" in (files / "report" / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("gold", [True, False])
def test_render_shows_it_beside_the_others(files: Path, gold: bool, capsys: pytest.CaptureFixture[str]) -> None:
    given = ("--gold", files / "gold.csv") if gold else ()
    code = run_qdecomp("render", "--input", files / "predictions.jsonl", *given, "--output", files / "page.html")
    assert code == 1
    assert TOLD in capsys.readouterr().err
    page = (files / "page.html").read_text(encoding="utf-8")
    assert page.count("<article") == 3
    assert "IndexError in test_internal_errors.py" in page


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
    (tmp_path / "predictions.jsonl").write_text(json.dumps(record))
    given = ("render", "--input", tmp_path / "predictions.jsonl", "--output", tmp_path / "page.html")
    assert run_qdecomp(*given) == 0
