from __future__ import annotations

import json
from collections import OrderedDict
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.planning.answer_values import (
    Measure,
    answer_from_json,
    answer_to_json,
    as_key,
    as_measure,
    as_text,
    plain_answer,
    unique,
)


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        (np.int64(3), 3),
        (np.bool_(True), True),
        (np.array([1, 2]), [1, 2]),
        (np.datetime64("2024-03-01T12:00", "ns"), datetime(2024, 3, 1, 12)),
        (np.array(["2024-03-01"], dtype="datetime64[D]"), [datetime(2024, 3, 1)]),
        (np.timedelta64(90, "s"), timedelta(seconds=90)),
        (pd.Timestamp("2024-03-01"), datetime(2024, 3, 1)),
        (pd.Series([3, 4]), [3, 4]),
        (pd.Series(["a", "b", "c"])[[True, False, True]], ["a", "c"]),
        (pd.Series([3, 4], index=["Peru", "Chile"]), {"Peru": 3, "Chile": 4}),
        (pd.Series([3, 4], index=pd.Index([1999, 2001], name="year")), {1999: 3, 2001: 4}),
        (pd.Series(pd.to_datetime(["2024-03-01"])), [datetime(2024, 3, 1)]),
        (pd.Series([1, 2], dtype="Int64"), [1, 2]),
        (pd.DataFrame({"name": ["a", "b"]}), ["a", "b"]),
        (("a", "b"), ["a", "b"]),
        ({"b", "a"}, frozenset({"a", "b"})),
        (OrderedDict(a=np.int64(1)), {"a": 1}),
        ((name for name in "ab"), ["a", "b"]),
        ([], []),
        (Decimal("1.50"), Decimal("1.50")),
        (date(2024, 3, 1), date(2024, 3, 1)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_of_libraries_become_plain(given: Any, plain: Any) -> None:
    found = plain_answer(given)
    assert found == plain
    assert type(found) is type(plain)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (None, "the answer is None; return an empty list if there is nothing"),
        ("", "an empty text; return an empty list"),
        (float("nan"), "the answer is nan"),
        (pd.NA, "the answer is <NA>"),
        (pd.Series([1.0, None]), "member 2 of the answer is nan"),
        (["Peru", ""], "member 2 of the answer is an empty text"),
        ({"Peru": None}, "'Peru' of the answer is None"),
        (pd.DataFrame({"a": [1], "b": [2]}), "a table of 2 columns"),
        (pd.Series([1, 2], index=["a", "a"]), "a name twice"),
        (b"1", "of type bytes"),
        (object(), "of type object"),
        (10**5000, "a number of more than"),
    ],
    ids=lambda value: str(value)[:20] if isinstance(value, str) else type(value).__name__,
)
def test_what_would_be_misread_is_refused(given: Any, reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        plain_answer(given)


@pytest.mark.parametrize(
    "answer",
    [
        ["a", 1, 2.5, True],
        {"a": [1], 3: {"b": frozenset({"c"})}},
        [datetime(2024, 3, 1, 12, tzinfo=timezone.utc), date(2024, 3, 1), timedelta(seconds=3)],
        [Decimal("1.50"), Fraction(1, 3)],
    ],
)
def test_answers_come_back_from_json(answer: Any) -> None:
    assert answer_from_json(json.loads(json.dumps(answer_to_json(answer)))) == answer


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (2.5, "2.5"),
        (True, "yes"),
        ({"b", "a", "c"}, "a, b and c"),
        ([["a", "b"], ["c"]], "a and b and c"),
    ],
)
def test_answers_read_well_in_a_question(answer: Any, text: str) -> None:
    assert as_text(answer) == text


@pytest.mark.parametrize(
    ("answer", "number", "unit"),
    [
        ("1,234,567.5", 1234567.5, ""),
        (" -3 ", -3, ""),
        ("−2", -2, ""),
        (Decimal("1.5"), 1.5, ""),
        ("3 million", 3_000_000, ""),
        ("$3.00", 3.0, "$"),
        ("$ 1,000", 1000, "$"),
        ("-$3", -3, "$"),
        ("5 dollars", 5, "$"),
        ("12%", 12, "%"),
        ("12 percent", 12, "%"),
        ("3 kg", 3, "kg"),
        ("1 kilogram", 1, "kg"),
        ("1.5 million people", 1_500_000, "people"),
        ("5 years", 5, "year"),
        ("2024-02-29", date(2024, 2, 29).toordinal(), "date"),
        (timedelta(minutes=2), 120.0, "s"),
    ],
)
def test_measures_are_read_from_text(answer: Any, number: Any, unit: str) -> None:
    assert as_measure(answer) == Measure(number, unit)


@pytest.mark.parametrize(
    "text",
    ["50 Cent", "7 Up", "3-5", "3,5", "about 3", "$3 kg", "v1.2", "2024-02-30", "3 4", "9" * 400, "12 Years a Slave"],
)
def test_what_is_no_measure(text: str) -> None:
    assert as_measure(text) is None


@pytest.mark.parametrize(
    ("first", "second"),
    [(" New  York", "new york"), ("1,000", 1000.0), ("3 kilograms", "3 kg"), ("2024-03-01", date(2024, 3, 1))],
)
def test_things_are_the_same_without_case_and_measures_by_value(first: Any, second: Any) -> None:
    assert as_key(first) == as_key(second)


def test_each_thing_is_kept_once_and_each_measure() -> None:
    assert unique(["Peru", "peru", 3, 3, 1, True]) == ["Peru", 3, 3, 1, True]
