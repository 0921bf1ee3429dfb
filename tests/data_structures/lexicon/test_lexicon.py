from __future__ import annotations

import pytest

from qdecomp.data_structures.lexicon import anchor_words
from qdecomp.data_structures.operators import OPERATORS, Operator


@pytest.mark.parametrize("operator", [operator for operator in Operator if operator is not Operator.SELECT])
def test_every_operator_with_every_property_can_be_shown(operator):
    for name in OPERATORS[operator].properties:
        assert anchor_words(operator, (name,)), name
        assert all(word == word.lower() for word in anchor_words(operator, (name,)))


def test_words_are_of_the_property_and_of_the_operator():
    assert {"each", "many", "count"} <= anchor_words(Operator.GROUP, ("count",))
    assert "each" in anchor_words(Operator.GROUP, ())
    assert "many" not in anchor_words(Operator.GROUP, ())
    assert anchor_words(Operator.SELECT, ()) == frozenset()
