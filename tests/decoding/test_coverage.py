from __future__ import annotations

import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.special_tokens import SpecialTokens
from qdecomp.decoding.coverage import check_penalty, coverage_of, uncovered_words


@pytest.mark.parametrize(
    ("question", "decomposition", "expected"),
    [
        ("Show me all red boats!", "return boats ;return #1 that are red", ()),
        ("Show me all red boats!", "return boats", ("red",)),
        ("Which boat is older than the Vasa?", "return boats ;return age of #1", ("older", "vasa")),
        ("Boats of BOATS", "return boat", ()),
        ("how many are there ?", "return #1", ()),
        ("", "return boats", ()),
    ],
)
def test_words_that_a_plan_does_not_say(question: str, decomposition: str, expected: tuple[str, ...]) -> None:
    assert uncovered_words(question, decomposition) == expected


@pytest.mark.parametrize("penalty", [-1, float("nan"), float("inf"), "1", True, None, 10**400])
def test_a_penalty_is_a_number_from_zero_up(penalty: object) -> None:
    with pytest.raises(DataError, match=r"coverage_penalty is .*; give a number from 0 to 1,000"):
        check_penalty(penalty)  # type: ignore[arg-type]


def test_a_graph_says_the_words_that_its_edges_end_at() -> None:
    tokens = ("return", "the", "red", "boats", "near", "a", "boat", *SpecialTokens(("size",), 1, 1).appended)
    found = coverage_of(tokens, 1.5)
    assert found.positions == ((2,), (3, 6), (4,))
    assert found.cost([(2, 4), (4, 6)]) == 0
    assert found.cost([(3, 8)]) == 3.0
    assert coverage_of(tokens, 0.0).cost([]) == 0
