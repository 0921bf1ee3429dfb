from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from qdecomp import load
from qdecomp.data_structures.errors import DataError
from qdecomp.parsers.consensus import answer_classes, consensus, learn_weights
from qdecomp.parsers.decomposition import Candidate, Decomposition, decomposition_from_text, failed_decomposition

QUESTION = "How many red cubes are there?"
SPLIT = "return cubes ;return #1 that are red ;return number of #2"
JOINED = "return red cubes ;return the number of #1"
WRONG = "return cubes ;return number of #1"


def says(*candidates: tuple[str, float]) -> Decomposition:
    """A prediction with candidates and their probabilities."""
    given = tuple(Candidate(text, math.log(probability)) for text, probability in candidates)
    return replace(decomposition_from_text(QUESTION, given[0].text, given[0].score), candidates=given)


def test_candidates_that_lf_em_takes_for_equal_are_one_class() -> None:
    classes = answer_classes(QUESTION, [says((SPLIT, 0.4), (WRONG, 0.5)), says((JOINED, 0.3))])
    assert sorted(len(each.members) for each in classes) == [1, 2]


def test_the_best_member_of_the_class_with_most_support_is_the_answer() -> None:
    systems = [says((WRONG, 0.5), (SPLIT, 0.2)), says((JOINED, 0.4))]
    answer = consensus(QUESTION, systems, [1, 1])
    assert answer.text == JOINED
    assert answer.score == pytest.approx(math.log(0.6 / 2))
    assert [each.text for each in answer.candidates] == [JOINED, WRONG]
    assert answer.logical_form is not None


def test_weights_decide() -> None:
    systems = [says((WRONG, 0.5), (SPLIT, 0.2)), says((JOINED, 0.4))]
    assert consensus(QUESTION, systems, [2, 0.5]).text == WRONG
    assert consensus(QUESTION, systems, [0, 1]).text == JOINED


def test_a_system_without_candidates_counts_with_its_probability_or_one() -> None:
    sure = decomposition_from_text(QUESTION, WRONG)
    assert consensus(QUESTION, [sure, says((JOINED, 0.9))], [1, 1]).text == WRONG
    assert consensus(QUESTION, [replace(sure, score=math.log(0.3)), says((JOINED, 0.9))], [1, 1]).text == JOINED


def test_calibrated_confidence_counts_instead_of_the_probability() -> None:
    modest = replace(says((JOINED, 0.01), (WRONG, 0.001)), confidence=0.8)
    answer = consensus(QUESTION, [says((WRONG, 0.5)), modest], [1, 1])
    assert answer.text == JOINED
    # The member's own confidence is not that of all.
    assert answer.confidence is None
    assert math.exp(answer.score or 0) == pytest.approx(0.4)
    assert [math.exp(each.score) for each in answer.candidates] == pytest.approx([0.8 / 2, (0.5 + 0.08) / 2])


def test_what_has_no_logical_form_is_the_last_resort() -> None:
    broken = Decomposition(QUESTION, "return #7", score=0.0)
    assert consensus(QUESTION, [broken, says((JOINED, 0.1))], [1, 1]).text == JOINED
    assert consensus(QUESTION, [broken, failed_decomposition(QUESTION, "no")], [1, 1]).text == "return #7"


def test_without_any_decomposition_the_reasons_are_said() -> None:
    answer = consensus(
        QUESTION, [failed_decomposition(QUESTION, "too long"), failed_decomposition(QUESTION, "empty")], [1, 1]
    )
    assert answer.text is None
    assert answer.error == "too long; empty"


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


def write(folder: Path, value: Any) -> Path:
    path = folder / "consensus.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def test_the_consensus_of_a_parser_with_itself_is_its_answer(tmp_path: Path) -> None:
    members = [
        {"parser": "minilm_break", "candidates": 1},
        {"parser": "minilm_break", "candidates": 1, "weight": 2},
    ]
    parser = load(write(tmp_path, {"kind": "consensus", "parsers": members}))
    alone = load()
    for ours, theirs in zip(parser.pipe(QUESTIONS), alone.pipe(QUESTIONS), strict=True):
        assert bool(ours) == bool(theirs)
        assert ours.steps == theirs.steps
        assert ours.candidates == ()
    assert parser.parse("").error == "the question is empty"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "not a consensus"),
        ({"kind": "consensus", "parsers": []}, "not a consensus"),
        ({"kind": "consensus", "parsers": ["minilm_break"]}, "parser 1 must be an object"),
        ({"kind": "consensus", "parsers": [{"parser": "nowhere"}]}, "there is no parser 'nowhere'"),
        ({"kind": "consensus", "parsers": [{"parser": "consensus.json"}]}, "the consensus itself"),
        ({"kind": "consensus", "parsers": [{"parser": "minilm_break", "weigth": 1}]}, "'weigth'"),
        ({"kind": "consensus", "parsers": [{"parser": "minilm_break", "weight": "1"}]}, "not a number"),
        ({"kind": "consensus", "parsers": [{"parser": "minilm_break", "weight": 0}]}, "not all 0"),
        ({"kind": "consensus", "parsers": [{"parser": "minilm_break", "weight": 10**400}]}, "not a number"),
        ({"kind": "consensus", "parsers": [{"parser": "minilm_break", "weight": math.inf}]}, "it is not JSON"),
        ({"kind": "consensus", "parsers": [{"parser": "minilm_break"}] * 21}, "at most 20 are allowed"),
        ({"kind": "consensus", "parsers": [{"parser": "minilm_break", "candidates": 0}]}, "whole number"),
        ({"kind": "consensus", "parsers": [{"parser": "minilm_break", "candidates": 101}]}, "from 1 to 100"),
    ],
)
def test_a_file_that_is_no_consensus_is_said(tmp_path: Path, value: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        load(write(tmp_path, value))


def test_it_takes_no_decoder(tmp_path: Path) -> None:
    path = write(tmp_path, {"kind": "consensus", "parsers": [{"parser": "minilm_break"}]})
    with pytest.raises(DataError, match="takes no decoder"):
        load(path, decoder="ilp")


def test_a_score_that_is_not_a_number_supports_nothing() -> None:
    broken = replace(says((WRONG, 0.9)), score=math.nan, candidates=(Candidate(WRONG, math.nan),))
    answer = consensus(QUESTION, [broken, says((JOINED, 0.1))], [1, 1])
    assert answer.text == JOINED
    assert answer.score == pytest.approx(math.log(0.1 / 2))


def test_what_a_system_says_about_another_question_does_not_count() -> None:
    about_another = replace(says((WRONG, 0.9)), question="Which river is longest?")
    same = replace(says((JOINED, 0.1)), question="how many red cubes are there ?")
    assert consensus(QUESTION, [about_another, same], [1, 1]).text == JOINED
    assert consensus(QUESTION, [about_another], [1]).error == "answered another question"
