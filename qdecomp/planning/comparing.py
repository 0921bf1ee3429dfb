"""Comparisons as they are written in steps: "#2 is at least 100", "#1 is the same as #2".

A logical form has one property for "more than" and "at least", so the words themselves are read here.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from qdecomp.planning.answer_values import as_key, as_list, as_number

__all__ = ["RELATIONS", "compare", "comparison_in"]

RELATIONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "at least|no less than|no fewer than|no lower than": operator.ge,
    "at most|no more than|no higher than": operator.le,
    "(?:more|higher|larger|bigger|longer|greater|older|taller|later) than|above|over": operator.gt,
    "(?:less|lower|smaller|fewer|shorter|younger|earlier) than|below|under": operator.lt,
    "(?:the )?same as|equal to|equals(?: to)?|equal": operator.eq,
}
"""The phrases of each relation; the first that is found counts, so "no more than" comes before "more than"."""

_TERM = r"#\d+|\S+(?: \S+)*?"
_COMPARISONS = tuple(
    (
        re.compile(rf"(?:.*? )?#\d+ (?:(?:is|are|was|were|has|have|had|be) )?(?:{phrases}) (?P<term>{_TERM})", re.I),
        relation,
    )
    for phrases, relation in RELATIONS.items()
)


def comparison_in(text: str) -> tuple[Callable[[Any, Any], bool], str] | None:
    """The relation that a step names, and what it compares with; None if it says something else.

    >>> comparison_in("#1 where #2 is at least 100")
    (<built-in function ge>, '100')
    >>> comparison_in("if #1 is not the same as #2") is None
    True
    """
    for pattern, relation in _COMPARISONS:
        match = pattern.fullmatch(text.strip())
        if match is not None:
            return relation, match["term"]
    return None


def compare(relation: Callable[[Any, Any], bool], left: Any, right: Any) -> bool | None:
    """Whether the relation holds between two answers; None if their types do not allow it."""
    first, second = as_number(left), as_number(right)
    if first is not None and second is not None:
        return bool(relation(first, second))
    if relation is operator.eq and not isinstance(left, Mapping) and not isinstance(right, Mapping):
        several = [as_list(left), as_list(right)]
        if any(members is not None and len(members) != 1 for members in several):
            return None
        return as_key(left) == as_key(right)
    return None
