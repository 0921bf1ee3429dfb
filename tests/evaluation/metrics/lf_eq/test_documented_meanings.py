"""What ``docs/lf_eq.md`` says: its table of what each operator computes, row by row, and its examples."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import pytest

from qdecomp.data_structures.operators import Operator
from qdecomp.evaluation.metrics.lf_eq import lf_eq

PAGE = Path(__file__).parents[4] / "docs" / "lf_eq.md"
ROW = re.compile(r"\| (?P<case>[^|`]+) \| [^|]+ \| `(?P<one>[^`]+)` \| (?P<sign>[=≠]) `(?P<other>[^`]+)` \|")


class Meaning(NamedTuple):
    """A row of the table: a case of an operator, and two decompositions that are equal or differ because of it."""

    case: str
    one: str
    sign: str
    other: str


MEANINGS = [Meaning(**found.groupdict()) for found in ROW.finditer(PAGE.read_text(encoding="utf-8"))]


def test_the_table_is_read_as_a_whole() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = lines.index("| | what it computes | | |") + 2
    assert len(MEANINGS) == lines.index("", start) - start


@pytest.mark.parametrize("row", MEANINGS, ids=lambda row: row.case)
def test_every_row_shows_what_it_says(row: Meaning) -> None:
    for one, other in ((row.one, row.other), (row.other, row.one)):
        result = lf_eq("", one, other)
        assert (result.verdict, result.error) == (row.sign == "=", None), str(result.evidence)


def test_every_operator_has_rows() -> None:
    for operator in Operator:
        assert any(row.case.startswith(operator.value) for row in MEANINGS), operator


def test_every_property_has_a_meaning_of_its_own() -> None:
    """No two properties of an operator are one."""
    names = ("highest", "lowest", "number", "sum", "average")
    aggregates = [f"dogs ;{name} of #1" for name in names]
    groups = [f"dogs ;cats of #1 ;{name} of #2 for each #1" for name in names]
    arithmetic = [
        f"dogs ;cats ;number of #1 ;number of #2 ;{word} of #3 and #4"
        for word in ("sum", "difference", "multiplication", "division")
    ]
    booleans = [
        f"dogs ;cats ;if any #1 ;if any #2 ;if {join} #3 {word} #4 {be} {truth}"
        for join, word, be in (("both", "and", "are"), ("either", "or", "is"))
        for truth in ("true", "false")
    ]
    counts = [
        f"dogs ;number of #1 ;if #2 is {comparison} {number}"
        for comparison in ("equal to", "more than", "less than")
        for number in ("one", "two")
    ]
    for family in (aggregates, groups, arithmetic, booleans, counts):
        for one, other in combinations(family, 2):
            assert not lf_eq("", one, other).verdict, (one, other)
