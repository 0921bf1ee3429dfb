from __future__ import annotations

import pytest

from qdecomp.data_structures.lexicon import anchor_words, property_phrases
from qdecomp.data_structures.operators import OPERATORS, Operator


@pytest.mark.parametrize("operator", Operator, ids=str)
def test_a_row_names_only_the_operators_own_arguments(operator: Operator) -> None:
    row = OPERATORS[operator]
    assert row.word_arguments
    assert {*row.word_arguments, *row.required, *row.listed, *row.single} <= set(row.arguments)
    assert not {*row.single} & {*row.listed}
    assert all(count == 1 or name in row.listed for name, count in row.required.items())


@pytest.mark.parametrize("operator", Operator, ids=str)
def test_the_lexicon_shows_every_property_and_no_other(operator: Operator) -> None:
    assert {row.property for row in property_phrases(operator)} <= {*OPERATORS[operator].properties}
    for name in OPERATORS[operator].properties:
        words = anchor_words(operator, (name,))
        assert words, name
        assert all(word == word.lower() for word in words)


def test_anchors_are_of_the_property_and_of_the_operator() -> None:
    assert {"each", "many", "count"} <= anchor_words(Operator.GROUP, ("count",))
    assert "each" in anchor_words(Operator.GROUP, ())
    assert "many" not in anchor_words(Operator.GROUP, ())
    assert anchor_words(Operator.SELECT, ()) == frozenset()
