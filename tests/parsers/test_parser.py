from __future__ import annotations

import math
import shutil
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from qdecomp import lf_em, load, to_logical_form
from qdecomp.data_structures.conversion.chain import logical_form_from_graph
from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.tokenization import question_words
from qdecomp.files import read_break_csv
from qdecomp.parsers.bundle import BUNDLED, VOCABULARY, read_config, write_config
from qdecomp.parsers.calibration import Calibration
from qdecomp.parsers.consensus import Answers
from qdecomp.parsers.decomposition import Decomposition, decomposition_from_text
from qdecomp.parsers.parser import Parser
from qdecomp.parsers.pieces import WordPieces
from qdecomp.parsers.source import ParserSource


@pytest.fixture(scope="module")
def bundled() -> Parser:
    return load()


def parser_of(answers: Answers, **options: Any) -> Parser:
    """A parser that has these answers."""
    return Parser(ParserSource(Path("toy")), answers, **options)


class Echo:
    """Answers every question with itself, and remembers the batches."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []

    def __call__(self, questions: Sequence[str]) -> list[Decomposition]:
        self.batches.append(list(questions))
        return [Decomposition(question, f"return {question}") for question in questions]


@pytest.mark.parametrize(
    ("question", "gold"),
    [
        (
            "How many red cubes are behind the large sphere?",
            "cubes ;#1 that are red ;large sphere ;#2 that are behind #3 ;number of #4",
        ),
        ("How many rivers are in Norway?", "Norway ;rivers in #1 ;number of #2"),
        # A word that every step begins with in Break's text is a word like any other in a question.
        ("how many return are red ?", "return return ;return #1 that are red ;return number of #2"),
    ],
)
def test_the_bundled_parser_is_right_on_simple_questions(bundled: Parser, question: str, gold: str) -> None:
    decomposition = bundled.parse(question)
    assert lf_em(question, str(decomposition.qdmr), gold), decomposition


def test_what_is_no_text_among_questions_costs_no_other_answer(bundled: Parser) -> None:
    rows: list[Any] = ["How many red cubes are there?", None, math.nan, b"cubes"]
    first, *others = bundled.pipe(rows)
    assert first.steps == ("red cubes", "number of #1")
    assert [each.error for each in others] == [
        f"a question must be a string, not {kind}" for kind in ("NoneType", "float", "bytes")
    ]
    assert repr(others[1]) == "<Decomposition of 'nan': none>"


def test_all_forms_of_an_answer_say_the_same(bundled: Parser) -> None:
    decomposition = bundled.parse("How many red cubes are behind the large sphere?", "id-1")
    record = decomposition.to_dict()
    assert decomposition.qdmr is not None
    assert decomposition.graph is not None
    assert decomposition.logical_form == to_logical_form(decomposition.qdmr)
    assert lf_em(decomposition.question, logical_form_from_graph(decomposition.graph), decomposition.logical_form)
    assert (record["question_id"], record["decomposition"]) == ("id-1", str(decomposition.qdmr))
    assert record["logical_form"] == str(decomposition.logical_form).splitlines()
    hard = "Which of the cities that were founded before 1200 and have fewer bridges than Venice is farthest from it?"
    assert 0 < (bundled.parse(hard).confidence or 0) < (decomposition.confidence or 0) <= 1


@pytest.mark.parametrize(
    ("question", "error"),
    [
        ("", "the question is empty"),
        ("   \t", "the question is empty"),
        ("?!...", "the question has no word in it"),
        ("cubes " * 5000, "the question is too long: 30,000 characters; at most 2,000 are allowed"),
        ("x " * 201, "the question is too long: 201 words; at most 200 are allowed"),
        ("asdf qwer zxcv", "not a question in English: none of its words is known"),
        ("un" * 600, None),
        ("🙂 cubes that are 红色 ?", None),
        ("\x00 cubes \ud800 ?", None),
        ("[DUP] [RSC] cubes", None),
    ],
)
def test_whatever_is_asked_there_is_an_answer(bundled: Parser, question: str, error: str | None) -> None:
    decomposition = bundled.parse(question)
    assert decomposition.question == question
    if error is not None:
        assert decomposition.error == error
        assert not decomposition
    else:
        # A plan whose steps have a logical form each, or else a reason.
        assert bool(decomposition) != bool(decomposition.error)
        assert not decomposition or len(to_logical_form(str(decomposition.qdmr))) == len(decomposition.steps)


def test_every_question_of_the_data_has_a_known_word(project_root: Path) -> None:
    pieces = WordPieces(BUNDLED / VOCABULARY, 512)
    for name in ("dev", "everyday", "engineers", "asked_dev"):
        for example in read_break_csv(project_root / "data" / f"{name}.csv"):
            assert pieces.knows_any(question_words(example.question)), example.question


def test_a_pipe_keeps_the_order_and_sorts_by_length_inside() -> None:
    echo = Echo()
    questions = [f"{'x' * (1 + number * 7 % 23)} {number}" for number in range(100)]
    pairs = list(parser_of(echo).pipe(zip(questions, range(100), strict=True), batch_size=4, as_tuples=True))
    decompositions = [decomposition for decomposition, _ in pairs]
    assert [number for _, number in pairs] == list(range(100))
    assert [decomposition.text for decomposition in decompositions] == [f"return {question}" for question in questions]
    assert max(map(len, echo.batches)) == 4
    spread = [max(map(len, batch)) - min(map(len, batch)) for batch in echo.batches]
    assert sum(spread) / len(spread) < 5


def test_a_pipe_is_lazy() -> None:
    echo = Echo()
    taken = 0

    def endless() -> Iterator[str]:
        nonlocal taken
        while True:
            taken += 1
            yield f"question {taken}"

    answers = parser_of(echo).pipe(endless(), batch_size=2)
    assert taken == 0
    assert next(answers).question == "question 1"
    assert taken <= 16


def test_several_processes_and_an_executor_of_python_say_the_same(bundled: Parser) -> None:
    questions = [f"how many cubes are larger than {number} spheres ?" for number in range(9)]
    alone = [each.to_dict() for each in bundled.pipe(questions)]
    assert [each.to_dict() for each in bundled.pipe(questions, batch_size=1, processes=2)] == alone
    with ThreadPoolExecutor(2) as executor:
        assert [each.to_dict() for each in bundled.pipe(questions, batch_size=2, executor=executor)] == alone
    with pytest.raises(DataError, match="give either processes or an executor"):
        bundled.pipe(questions, processes=2, executor=executor)


def test_an_unknown_parser_is_one_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match="there is no parser 'nowhere'; give minilm_break, a parser's folder"):
        load("nowhere")
    (tmp_path / "text.txt").write_text("not an archive")
    with pytest.raises(DataError, match=r"text\.txt: not the archive of a parser"):
        load(tmp_path / "text.txt")
    monkeypatch.setitem(sys.modules, "qdecomp.training.archives", None)
    with pytest.raises(
        DataError, match=r"text\.txt: not a bundled parser, and an archive needs AllenNLP's environment"
    ):
        load(tmp_path / "text.txt")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"questions": "red cubes"}, "pipe takes many questions"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"executor": object()}, "a Dask client or an executor of concurrent"),
    ],
)
def test_a_wrong_pipe_is_refused_at_once(options: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        parser_of(Echo()).pipe(**{"questions": [], **options})


def as_sure_as_asked(questions: Sequence[str]) -> list[Decomposition]:
    """As sure as the last word of the question says."""
    sure = [float(question.split()[-1]) for question in questions]
    plans = [
        decomposition_from_text(question, "return rivers", math.log(each))
        for question, each in zip(questions, sure, strict=True)
    ]
    return [replace(plan, confidence=each) for plan, each in zip(plans, sure, strict=True)]


def test_what_is_not_a_question_is_never_asked() -> None:
    asked = ["hello", "rivers with length 0.9", "Wo ist der Fluss und das Meer"]
    first, second, third = parser_of(as_sure_as_asked).predict(asked)
    assert first.error == "not a question: a single word"
    assert second.text == "return rivers"
    assert third.error == "not a question in English: it looks like German"


@pytest.mark.parametrize(("least", "given"), [(0.5, [True, False]), (0.9, [True, False]), (0.95, [False, False])])
def test_a_plan_below_the_threshold_is_not_given(least: float, given: list[bool]) -> None:
    source = ParserSource(Path("sure"), min_confidence=least)
    found = Parser(source, as_sure_as_asked).predict(["rivers with length 0.9", "rivers of length 0.2"])
    assert [each.logical_form is not None for each in found] == [bool(each) for each in found] == given
    assert found[1].error == f"the confidence 0.20 is below {least:g}"


def test_a_threshold_needs_a_calibration(tmp_path: Path) -> None:
    shutil.copytree(BUNDLED, tmp_path / "own")
    write_config(tmp_path / "own", replace(read_config(BUNDLED), calibration=None))
    assert load(tmp_path / "own").parse("how many rivers are in texas ?").confidence is None
    with pytest.raises(DataError, match="not calibrated, so min_confidence has nothing to go by"):
        load(tmp_path / "own", min_confidence=0.3)


def test_a_parser_is_calibrated() -> None:
    parser = parser_of(as_sure_as_asked, calibration=Calibration({}, 0))
    assert [each.confidence for each in parser.predict(["length 0.9", "length 0.1"])] == [0.5, 0.5]
    assert [each.confidence for each in parser.answers(["length 0.9"])] == [0.9]


def test_an_internal_error_is_that_of_one_question() -> None:
    def fails_on_cubes(questions: Sequence[str]) -> list[Decomposition]:
        if any("cubes" in question for question in questions):
            raise RuntimeError("broken")
        return [Decomposition(question, "return rivers") for question in questions]

    first, second = parser_of(fails_on_cubes).predict(["how many cubes ?", "how many rivers ?"])
    assert "broken" in (first.error or "")
    assert first.to_record()["internal_error"] is True
    assert second.text == "return rivers"
