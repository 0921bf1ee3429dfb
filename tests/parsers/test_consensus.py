from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from qdecomp import load
from qdecomp.data_structures.errors import DataError
from qdecomp.parsers.consensus import Cascade, consensus, learn_weights
from qdecomp.parsers.decomposition import (
    Answered,
    Candidate,
    Decomposition,
    decomposition_from_text,
    failed_decomposition,
)

QUESTION = "How many red cubes are there?"
SPLIT = "return cubes ;return #1 that are red ;return number of #2"
JOINED = "return red cubes ;return the number of #1"
WRONG = "return cubes ;return number of #1"


def says(*candidates: tuple[str, float]) -> Decomposition:
    """A prediction with candidates and their probabilities."""
    given = tuple(Candidate(text, math.log(probability)) for text, probability in candidates)
    return replace(decomposition_from_text(QUESTION, given[0].text, given[0].score), candidates=given)


def test_the_best_member_of_the_class_with_most_support_is_the_answer() -> None:
    systems = [says((WRONG, 0.5), (SPLIT, 0.2)), says((JOINED, 0.4))]
    answer = consensus(QUESTION, systems, [1, 1])
    assert answer.text == JOINED
    assert answer.score == pytest.approx(math.log(0.6 / 2))
    assert [each.text for each in answer.candidates] == [JOINED, WRONG]
    assert answer.logical_form is not None


SURE = decomposition_from_text(QUESTION, WRONG)
BROKEN = Decomposition(QUESTION, "return #7", score=0.0)
ELSEWHERE = replace(says((WRONG, 0.9)), question="Which river is longest?")


@pytest.mark.parametrize(
    ("first", "second", "weights", "text"),
    [
        (says((WRONG, 0.5), (SPLIT, 0.2)), says((JOINED, 0.4)), [2, 0.5], WRONG),
        (says((WRONG, 0.5), (SPLIT, 0.2)), says((JOINED, 0.4)), [0, 1], JOINED),
        # Without candidates, the probability counts, and one where there is none.
        (SURE, says((JOINED, 0.9)), [1, 1], WRONG),
        (replace(SURE, score=math.log(0.3)), says((JOINED, 0.9)), [1, 1], JOINED),
        # What has no logical form is the last resort.
        (BROKEN, says((JOINED, 0.1)), [1, 1], JOINED),
        (BROKEN, failed_decomposition(QUESTION, "no"), [1, 1], "return #7"),
        # What a system says about another question does not count.
        (ELSEWHERE, replace(says((JOINED, 0.1)), question="how many red cubes are there ?"), [1, 1], JOINED),
    ],
)
def test_what_counts(first: Decomposition, second: Decomposition, weights: list[float], text: str) -> None:
    assert consensus(QUESTION, [first, second], weights).text == text


def test_calibrated_confidence_counts_instead_of_the_probability() -> None:
    modest = replace(says((JOINED, 0.01), (WRONG, 0.001)), confidence=0.8)
    answer = consensus(QUESTION, [says((WRONG, 0.5)), modest], [1, 1])
    assert answer.text == JOINED
    # The member's own confidence is not that of all.
    assert answer.confidence is None
    assert math.exp(answer.score or 0) == pytest.approx(0.4)
    assert [math.exp(each.score) for each in answer.candidates] == pytest.approx([0.8 / 2, (0.5 + 0.08) / 2])


def test_without_any_decomposition_the_reasons_are_said() -> None:
    systems = [failed_decomposition(QUESTION, why) for why in ("too long", "empty")]
    answer = consensus(QUESTION, [*systems, ELSEWHERE], [1, 1, 1])
    assert (answer.text, answer.error) == (None, "too long; empty; answered another question")


@pytest.mark.parametrize("weights", [[1], [0, 0], [1, -1], [1, math.inf]])
def test_weights_must_fit(weights: list[float]) -> None:
    with pytest.raises(DataError, match="weights"):
        consensus(QUESTION, [says((SPLIT, 0.4)), says((WRONG, 0.4))], weights)


def test_weights_are_learned_from_what_is_right() -> None:
    """The second system is right, though less sure of itself."""
    rows = [(QUESTION, SPLIT, [says((WRONG, 0.9)), says((JOINED, 0.3))])] * 5
    weights = learn_weights(rows)
    assert consensus(QUESTION, rows[0][2], weights).text == JOINED
    assert max(weights) == 1.0
    with pytest.raises(DataError, match="gold"):
        learn_weights([])


QUESTIONS = ["How many red cubes are left of the ball?", "", "Which cube is largest?"]


def of(*parsers: Any) -> dict[str, Any]:
    return {"kind": "consensus", "parsers": list(parsers)}


def write(folder: Path, value: Any) -> Path:
    path = folder / "consensus.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def test_the_consensus_of_a_parser_with_itself_is_its_answer(tmp_path: Path) -> None:
    member = {"parser": "minilm_break", "candidates": 1}
    path = write(tmp_path, of(member, member | {"weight": 2}))
    parser = load(path)
    alone = load()
    for ours, theirs in zip(parser.pipe(QUESTIONS), alone.pipe(QUESTIONS), strict=True):
        assert bool(ours) == bool(theirs)
        assert ours.steps == theirs.steps
        assert ours.candidates == ()
    assert parser.parse("").error == "the question is empty"
    with pytest.raises(DataError, match="takes no decoder"):
        load(path, decoder="ilp")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "not a consensus"),
        (of(), "not a consensus"),
        (of("minilm_break"), "parser 1 must be an object"),
        (of({"parser": "nowhere"}), "there is no parser 'nowhere'"),
        (of({"parser": "consensus.json"}), "the consensus itself"),
        (of({"parser": "minilm_break", "weigth": 1}), "'weigth'"),
        (of({"parser": "minilm_break", "weight": "1"}), "not a number"),
        (of({"parser": "minilm_break", "weight": 0}), "not all 0"),
        (of({"parser": "minilm_break", "weight": 10**400}), "not a number"),
        (of(*[{"parser": "minilm_break"}] * 21), "at most 20 are allowed"),
        (of({"parser": "minilm_break", "candidates": 101}), "from 1 to 100"),
    ],
)
def test_a_file_that_is_no_consensus_is_said(tmp_path: Path, value: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        load(write(tmp_path, value))


def test_a_score_that_is_not_a_number_supports_nothing() -> None:
    broken = replace(says((WRONG, 0.9)), score=math.nan, candidates=(Candidate(WRONG, math.nan),))
    answer = consensus(QUESTION, [broken, says((JOINED, 0.1))], [1, 1])
    assert answer.text == JOINED
    assert answer.score == pytest.approx(math.log(0.1 / 2))


# Two parsers, one in front of the other.


def sure(questions: Sequence[str]) -> list[Decomposition]:
    """As sure as the last word of the question says; below 0.1, without a plan."""
    return [
        replace(decomposition_from_text(question, "return mugs ;return number of #1"), confidence=confidence)
        if (confidence := float(question.split()[-1])) >= 0.1
        else failed_decomposition(question, "too hard")
        for question in questions
    ]


def model(questions: Sequence[str]) -> list[Decomposition]:
    """A plan after one call, unless the question is about cups."""
    return [
        Decomposition(question, error="no plan", answered=Answered("toy", 2, 200, 20))
        if "cups" in question
        else Decomposition(question, "return red mugs", answered=Answered("toy", 1, 100, 10))
        for question in questions
    ]


@pytest.mark.parametrize(
    ("question", "text", "answered"),
    [
        ("mugs 0.9", "return mugs ;return number of #1", Answered("small")),
        ("mugs 0.5", "return mugs ;return number of #1", Answered("small")),
        ("mugs 0.4", "return red mugs", Answered("toy", 1, 100, 10)),
        ("mugs 0.05", "return red mugs", Answered("toy", 1, 100, 10, "too hard")),
        ("cups 0.4", "return mugs ;return number of #1", Answered("small", 2, 200, 20, "no plan")),
        ("cups 0.05", None, Answered("toy", 2, 200, 20, "too hard")),
    ],
)
def test_the_second_parser_answers_what_the_first_is_not_sure_of(
    question: str, text: str | None, answered: Answered
) -> None:
    (found,) = Cascade(("small", "toy"), sure, model, 0.5)([question])
    assert (found.text, found.answered) == (text, answered)
    assert found.error == (None if text else "too hard; no plan")


@pytest.mark.parametrize(
    ("confidence", "below", "text"),
    [
        (0.55, 0.5, "return mugs ;return number of #1"),
        (0.45, 0.5, "return red mugs"),
        (0.75, 0.8, "return red mugs"),
        (0.75, 0.7, "return mugs ;return number of #1"),
    ],
)
def test_together_a_model_s_plan_weighs_as_much_as_the_threshold(confidence: float, below: float, text: str) -> None:
    (found,) = Cascade(("small", "toy"), sure, model, below, together=True)([f"mugs {confidence}"])
    assert found.text == text
    assert found.answered == Answered("small + toy", 1, 100, 10)
    assert math.exp(found.score or 0) == pytest.approx(max(confidence, below) / 2)
