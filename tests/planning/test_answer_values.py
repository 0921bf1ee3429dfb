from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from qdecomp.planning.answer_values import as_key, as_list, as_number, as_text, unique


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("Peru", "Peru"),
        (7, "7"),
        (2.5, "2.5"),
        (4.0, "4"),
        (True, "yes"),
        (["a"], "a"),
        (("a", "b"), "a and b"),
        ({"b", "a", "c"}, "a, b and c"),
        ([], "none"),
        ([["a", "b"], ["c"]], "a and b and c"),
    ],
)
def test_answers_read_well_in_a_question(answer: Any, text: str) -> None:
    assert as_text(answer) == text


@pytest.mark.parametrize("answer", ["Peru", "1,2", "", None, True, [1, 2], float("nan"), float("inf"), {"a": 1}])
def test_what_is_no_number(answer: Any) -> None:
    assert as_number(answer) is None


@pytest.mark.parametrize(
    ("answer", "number"), [("1,234,567.5", 1234567.5), (" -3 ", -3), ("−2", -2), (Decimal("1.5"), Decimal("1.5"))]
)
def test_numbers_are_read_from_text(answer: Any, number: Any) -> None:
    assert as_number(answer) == number


def test_texts_and_mappings_are_not_lists() -> None:
    assert as_list("ab") is None
    assert as_list({"a": 1}) is None
    assert as_list(("a",)) == ["a"]


def test_things_are_the_same_without_case_and_numbers_by_value() -> None:
    assert as_key(" New  York") == as_key("new york")
    assert as_key("1,000") == as_key(1000.0)
    assert as_key(10**400) == as_number(10**400) == 10**400
    assert unique(["Peru", "peru", 3, 3]) == ["Peru", 3, 3]
