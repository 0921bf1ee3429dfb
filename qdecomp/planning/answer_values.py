"""Answers as values: what counts as a list or a number, how an answer reads inside a question, how two compare.

A logical form has one property for "more than" and "at least", so the words of a comparison are read here.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Set
from decimal import Decimal
from fractions import Fraction
from typing import Any

# Thousands are grouped in threes or not at all, so that "1,2" is a list of words, not a number.
_NUMBER = re.compile(r"[-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|[-+−]?\.\d+")
# Python converts no more than a few thousand digits, and no measurement has hundreds: a longer text is only a text.
_LONGEST_NUMBER = 300
_WORDS = {"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9}
_WORDS |= {"ten": 10, "eleven": 11, "twelve": 12}

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


def as_text(answer: Any) -> str:
    """An answer as it appears in a question: lists with commas and "and", whole numbers without decimals.

    >>> as_text(["Peru", "Chile", "Cuba"]), as_text(3.0), as_text({"Peru": 2, "Chile": 1}), as_text([])
    ('Peru, Chile and Cuba', '3', 'Peru: 2 and Chile: 1', 'none')
    """
    if isinstance(answer, Mapping):
        return _joined([f"{as_text(key)}: {as_text(value)}" for key, value in answer.items()])
    members = as_list(answer)
    if members is not None:
        return _joined([as_text(member) for member in members])
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    try:
        return str(tidy(answer))
    except Exception:  # an object of the user's that cannot be shown, or an integer of thousands of digits
        return f"<{type(answer).__name__}>"


def _joined(texts: list[str]) -> str:
    if not texts:
        return "none"
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def as_list(answer: Any) -> list[Any] | None:
    """The members of a list, tuple or set; None for anything else, including a string or a mapping."""
    if isinstance(answer, (str, bytes, Mapping)):
        return None
    if isinstance(answer, (list, tuple)):
        return list(answer)
    # Sets have no order, but a run should give the same result every time.
    return sorted(answer, key=as_text) if isinstance(answer, Set) else None


def single(answer: Any) -> Any:
    """The only member of a list of length one; other answers as they are."""
    members = as_list(answer)
    return members[0] if members is not None and len(members) == 1 else answer


def as_number(answer: Any) -> int | float | None:
    """The number that an answer is or that its text says; None if it is not a number, such as a truth value.

    >>> as_number("1,250"), as_number("2.5"), as_number("two"), as_number(["7"]), as_number("Peru"), as_number(True)
    (1250, 2.5, 2, 7, None, None)
    """
    answer = single(answer)
    if isinstance(answer, bool):
        return None
    if isinstance(answer, (Decimal, Fraction)):
        # These types do not mix with floats.
        answer = float(answer)
    if isinstance(answer, (int, float)):
        return answer if isinstance(answer, int) or math.isfinite(answer) else None
    if isinstance(answer, str):
        text = answer.strip().lower()
        if len(text) <= _LONGEST_NUMBER and _NUMBER.fullmatch(text):
            plain = text.replace(",", "").replace("−", "-")
            return float(plain) if "." in plain else int(plain)
        return _WORDS.get(text)
    return None


def tidy(answer: Any) -> Any:
    """A float that is a whole number becomes an int; everything else stays."""
    return int(answer) if isinstance(answer, float) and answer.is_integer() else answer


def as_key(answer: Any) -> Hashable:
    """A key that equal answers share: numbers by value, strings without case and outer spaces."""
    number = as_number(answer)
    if number is not None:
        return number
    answer = single(answer)
    if isinstance(answer, str):
        return " ".join(answer.casefold().split())
    return answer if isinstance(answer, Hashable) else repr(answer)


def unique(answers: Iterable[Any]) -> list[Any]:
    """The answers, each thing once; numbers stay, because two equal measurements are still two."""
    seen: set[Hashable] = set()
    kept = []
    for answer in answers:
        key = as_key(answer)
        if as_number(answer) is None and key in seen:
            continue
        seen.add(key)
        kept.append(answer)
    return kept


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
