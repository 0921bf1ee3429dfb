"""The bundled parser with onnxruntime: nearly the answers of NumPy, and each the same in every batch."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.files import read_break_csv
from qdecomp.parsers.parser import Parser, load
from qdecomp.parsers.parser_source import ParserSource

SAMPLE = Path(__file__).parents[2] / "data" / "dev.csv"


@pytest.fixture(scope="module")
def questions() -> list[str]:
    examples = read_break_csv(SAMPLE)
    return [example.question for example in examples[:: max(1, len(examples) // 40)]]


@pytest.fixture(scope="module")
def fast() -> Parser:
    return load(backend="onnxruntime")


def test_both_backends_answer_alike(questions: list[str], fast: Parser) -> None:
    """Rounding decides only where two plans are about equally good."""
    pairs = list(zip(load().pipe(questions), fast.pipe(questions), strict=True))
    assert all(ours and theirs for ours, theirs in pairs)
    same = [pair for pair in pairs if pair[0].text == pair[1].text]
    assert len(same) >= 0.85 * len(pairs)
    for ours, theirs in same:
        assert theirs.confidence == pytest.approx(ours.confidence, abs=0.15)


@pytest.mark.parametrize("options", [{}, {"candidates": 6}])
def test_the_batch_changes_no_digit(questions: list[str], options: dict[str, int]) -> None:
    parser = load(backend="onnxruntime", **options)
    asked = [*questions[:16], " and ".join(questions[:3])]
    expected = {question: parser.parse(question).to_dict() for question in asked}
    for size in (2, 5, 32):
        for order in (asked, asked[::-1]):
            found = parser.pipe(order, batch_size=size)
            assert {answer.question: answer.to_dict() for answer in found} == expected


def test_candidates_are_given(questions: list[str]) -> None:
    found = load(backend="onnxruntime", candidates=3).parse(questions[0]).candidates
    scores = [candidate.score for candidate in found]
    assert 1 < len(found) <= 3
    assert scores == sorted(scores, reverse=True)


def test_other_processes_have_the_same_backend(questions: list[str], fast: Parser) -> None:
    """So that all answers of a run are of one kind."""
    assert fast.required_source().backend == "onnxruntime"
    assert fast.key(32) != load().key(32)
    answers = [answer.to_dict() for answer in fast.pipe(questions[:4], batch_size=2, processes=2)]
    assert answers == [answer.to_dict() for answer in fast.pipe(questions[:4])]


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(DataError, match=r"needs more packages: pip install 'question-decomposition\[fast\]'"):
        load(backend="onnxruntime")


def test_what_does_not_fit_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no backend 'torch'; choose from numpy, onnxruntime"):
        load(backend="torch")
    with pytest.raises(DataError, match="the backend onnxruntime is for bundled parsers"):
        ParserSource(tmp_path / "model.tar.gz", backend="onnxruntime").open()
