"""Answers as values: what counts as a list or a number, and how an answer reads inside a question."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterable, Mapping, Set
from decimal import Decimal
from fractions import Fraction
from typing import Any

__all__ = ["as_key", "as_list", "as_number", "as_text", "single", "tidy", "unique"]

# Thousands are grouped in threes or not at all, so that "1,2" is a list of words, not a number.
_NUMBER = re.compile(r"[-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|[-+−]?\.\d+")
_WORDS = {"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9}
_WORDS |= {"ten": 10, "eleven": 11, "twelve": 12}


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
    return str(tidy(answer))


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
        if _NUMBER.fullmatch(text):
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
