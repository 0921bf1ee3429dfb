from __future__ import annotations

import pytest

from qdecomp.data_structures.conversion.phrasing import phrase_of
from qdecomp.data_structures.operators import Operator


@pytest.mark.parametrize(
    ("question", "positions", "operator", "phrase"),
    [
        ("flights from the big city", (3, 4), Operator.FILTER, "from the big city"),
        ("flights the city", (2,), Operator.FILTER, "city"),
        ("University of Michigan", (0, 2), Operator.SELECT, "University of Michigan"),
        ("University and Michigan", (0, 2), Operator.SELECT, "University Michigan"),
        ("the names of drivers", (1,), Operator.PROJECT, "names of"),
        ("drivers and their names", (3,), Operator.PROJECT, "names of"),
        ("players that played for teams", (0, 2, 3), Operator.PROJECT, "players played for"),
        ("When did they die", (0, 3), Operator.PROJECT, "When die"),
        ("the share count", (1, 2), Operator.PROJECT, "share count in"),
        ("a nose - to - nose kiss", (1, 3, 5), Operator.FILTER, "nose-to-nose"),
        ("the letter 'a '", (1, 2), Operator.SELECT, "letter 'a"),
        ("the letter ' a '", (1, 3), Operator.SELECT, "letter 'a"),
        ("1,000 men", (0, 1), Operator.SELECT, "1 , 000 men"),
        ("the #1 hit", (1, 2), Operator.SELECT, "# 1 hit"),
        ("red cubes [RSC] size one", (0, 3), Operator.FILTER, "red size"),
        ("red", (), Operator.PROJECT, "of"),
        ("red", (), Operator.FILTER, ""),
    ],
)
def test_phrases(question, positions, operator, phrase):
    assert phrase_of(question.split(), positions, operator) == tuple(phrase.split())


def test_a_preposition_before_an_adjective_belongs_to_the_noun():
    question = ["left", "of", "the", "brown", "ball"]
    assert phrase_of(question, (3,), Operator.FILTER, others={4}) == ("brown",)
    assert phrase_of(question, (4,), Operator.FILTER, others={3}) == ("ball",)
    assert phrase_of(question, (3,), Operator.FILTER, others={0}) == ("of", "the", "brown")


def test_a_preposition_before_a_reference_is_kept():
    question = ["cubes", "in", "front", "of", "the", "ball"]
    assert phrase_of(question, (2,), Operator.FILTER, before_reference=True) == ("in", "front", "of")
    assert phrase_of(question, (2,), Operator.FILTER) == ("in", "front")
