from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.parsers.careful_parser import CarefulParser
from qdecomp.parsers.decomposition import Decomposition, decomposition_from_text


def parser(questions: Sequence[str]) -> list[Decomposition]:
    """As sure as the last word of the question says."""
    return [
        decomposition_from_text(question, "return rivers", math.log(float(question.split()[-1])))
        for question in questions
    ]


def test_what_is_not_a_question_is_never_asked() -> None:
    first, second, third = CarefulParser(parser)(["hello", "rivers with length 0.9", "Wo ist der Fluss und das Meer"])
    assert first.error == "not a question: a single word"
    assert second.text == "return rivers"
    assert third.error == "not a question in English: it looks like German"


def test_a_plan_below_the_threshold_is_not_given() -> None:
    sure, unsure = CarefulParser(parser, 0.5)(["rivers with length 0.9", "rivers with length 0.2"])
    assert sure.text == "return rivers"
    assert unsure.text is None
    assert unsure.logical_form is None
    assert unsure.error == "the confidence 0.20 is below 0.5"


def test_a_plan_at_the_threshold_is_given() -> None:
    (prediction,) = CarefulParser(parser, 1.0)(["rivers with length 1"])
    assert prediction.text == "return rivers"


@pytest.mark.parametrize("value", [-0.1, 1.5, math.nan, "much"])
def test_a_threshold_is_from_0_to_1(value: float) -> None:
    with pytest.raises(DataError, match="a number from 0 to 1"):
        CarefulParser(parser, value)
