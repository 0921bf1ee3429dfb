"""Answers as values: what is accepted, what counts as a list or a measure, how an answer reads, how two compare.

:func:`plain_answer` makes plain values of what a function returns, or refuses it: nothing is guessed. A logical form
has one property for "more than" and "at least", so the words of a comparison are read here.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Set
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

from qdecomp.data_structures.errors import DataError

# Thousands are grouped in threes or not at all, so that "1,2" is a list of words, not a number.
_DIGITS = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+"
_SCALES = {"": 1, "hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
# A unit begins with a small letter or is one of these signs, so that "50 Cent" is a name and "3 kg" a measure.
_UNIT = (
    r"%|°[CF]?|[€£¥$]|(?:USD|EUR|GBP|[kMGT]?W|[kMGT]B|[kMG]?Hz|[kMG]?Wh|[A-Z]?V)\b"
    r"|[a-zµ][\w²³/.-]*(?: [a-z][\w²³/.-]*){0,2}"
)
_MEASURE = re.compile(
    rf"(?P<sign>[-+−]?)(?:(?P<money>[$€£¥]) ?)?(?P<digits>{_DIGITS})"
    rf"(?: ?(?P<scale>{'|'.join(filter(None, _SCALES))})\b)?(?: ?(?P<unit>{_UNIT}))?"
)
_SPELLINGS = {
    "%": "percent, per cent", "$": "dollar, us dollar, USD", "€": "euro, EUR", "£": "pound sterling, GBP", "¥": "yen",
    "kg": "kilogram, kilogramme", "g": "gram", "km": "kilometer, kilometre", "m": "meter, metre",
    "cm": "centimeter, centimetre", "km²": "square kilometer, square kilometre, sq km, km2",
    "h": "hour", "min": "minute", "s": "second, sec", "ft": "foot, feet", "inch": "inches",
}  # fmt: skip
_UNIT_NAMES = {name: unit for unit, names in _SPELLINGS.items() for name in names.split(", ")}
# Python converts no more than a few thousand digits, and no measurement has hundreds: a longer text is only a text.
_LONGEST_NUMBER = 300
_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_YEAR = re.compile(r"[12]\d{3}")

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


@dataclass(frozen=True, slots=True)
class Measure:
    """A number with its unit, which is empty for a plain number; dates are days with the unit "date"."""

    number: int | float
    unit: str = ""

    def __str__(self) -> str:
        number = str(tidy(round(self.number, 9)))
        if self.unit and self.unit in "$€£¥":
            return f"-{self.unit}{number[1:]}" if number.startswith("-") else f"{self.unit}{number}"
        return f"{number}%" if self.unit == "%" else f"{number} {self.unit}".rstrip()


def plain_answer(answer: Any, what: str = "the answer") -> Any:
    """The answer as strings, numbers, truth values, dates, and lists, sets and mappings of them, or a DataError.

    NumPy and pandas values become Python's. A Series is a list, or a mapping if its index has names. A table has one
    column. What is missing (None, NaN, NaT, an empty text) is refused, since it would be counted or compared.

    >>> import pandas
    >>> plain_answer(pandas.Series({"Peru": 34, "Chile": 20}))
    {'Peru': 34, 'Chile': 20}
    """
    kind = type(answer).__name__
    if answer is None or kind in ("NAType", "NaTType"):
        raise DataError(f"{what} is {answer}; return an empty list if there is nothing")
    if isinstance(answer, str):
        if not answer.strip():
            raise DataError(f"{what} is an empty text; return an empty list if there is nothing")
        return str(answer)
    if hasattr(answer, "columns") and hasattr(answer, "shape"):
        if len(answer.columns) != 1:
            raise DataError(f"{what} is a table of {len(answer.columns)} columns; return one of them")
        return plain_answer(answer[answer.columns[0]], what)
    index = getattr(answer, "index", None)
    if hasattr(index, "is_unique"):
        return _plain_series(answer, index, what)
    if hasattr(answer, "dtype") and hasattr(answer, "tolist"):
        # NumPy gives nanoseconds as integers, which would be read as numbers.
        is_time = answer.dtype.kind in "mM" if hasattr(answer.dtype, "kind") else False
        return plain_answer((answer.astype(f"{answer.dtype.kind}8[us]") if is_time else answer).tolist(), what)
    if isinstance(answer, Mapping):
        return {
            plain_answer(key, f"a key of {what}"): plain_answer(answer[key], f"{key!r} of {what}") for key in answer
        }
    if isinstance(answer, Set):
        return frozenset(plain_answer(member, f"a member of {what}") for member in answer)
    if isinstance(answer, (bool, time)):
        return answer
    if isinstance(answer, (int, float, Decimal, Fraction)):
        return _plain_number(answer, what)
    if isinstance(answer, (date, timedelta)):
        convert = getattr(answer, "to_pydatetime", None) or getattr(answer, "to_pytimedelta", None)
        return answer if convert is None else convert()
    if isinstance(answer, Iterable) and not isinstance(answer, (bytes, bytearray)):
        return [plain_answer(member, f"member {n} of {what}") for n, member in enumerate(answer, start=1)]
    raise DataError(f"{what} is of type {kind}; return a text, a number, a truth value, a date, a list or a mapping")


def _plain_series(answer: Any, index: Any, what: str) -> Any:
    values = plain_answer(answer.tolist(), what)
    if index.name is None and getattr(index.dtype, "kind", "O") == "i":
        return values
    if not index.is_unique:
        raise DataError(f"{what} is a Series whose index has a name twice; return a list or a mapping")
    return dict(zip(plain_answer(index.tolist(), f"the index of {what}"), values, strict=True))


def _plain_number(answer: Any, what: str) -> Any:
    if isinstance(answer, int):
        if answer.bit_length() > 3 * _LONGEST_NUMBER:
            raise DataError(f"{what} is a number of more than {_LONGEST_NUMBER * 9 // 10} digits")
        return int(answer)
    if not math.isfinite(answer):
        raise DataError(f"{what} is {answer}; return an empty list if there is nothing")
    return float(answer) if isinstance(answer, float) else answer


_JSON_TYPES: Mapping[str, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "mapping": (dict, lambda value: [[answer_to_json(each) for each in pair] for pair in value.items()],
                lambda pairs: {answer_from_json(key): answer_from_json(value) for key, value in pairs}),
    "set": (frozenset, lambda value: [answer_to_json(each) for each in sorted(value, key=as_text)],
            lambda members: frozenset(map(answer_from_json, members))),
    "datetime": (datetime, datetime.isoformat, datetime.fromisoformat),
    "date": (date, date.isoformat, date.fromisoformat),
    "time": (time, time.isoformat, time.fromisoformat),
    "duration": (timedelta, timedelta.total_seconds, lambda seconds: timedelta(seconds=seconds)),
    "decimal": (Decimal, str, Decimal),
    "fraction": (Fraction, str, Fraction),
}  # fmt: skip


def answer_to_json(answer: Any) -> Any:
    """A plain answer for ``json.dumps``; what JSON lacks is an object with its type.

    >>> answer_to_json(["Peru", date(1821, 7, 28)])
    ['Peru', {'type': 'date', 'value': '1821-07-28'}]
    """
    if isinstance(answer, list):
        return [answer_to_json(member) for member in answer]
    for name, (kind, encode, _) in _JSON_TYPES.items():
        if isinstance(answer, kind):
            return {"type": name, "value": encode(answer)}
    return answer


def answer_from_json(value: Any) -> Any:
    """What :func:`answer_to_json` was given."""
    if isinstance(value, list):
        return [answer_from_json(member) for member in value]
    if isinstance(value, dict):
        return _JSON_TYPES[value["type"]][2](value["value"])
    return value


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
    return ("yes" if answer else "no") if isinstance(answer, bool) else str(tidy(answer))


def _joined(texts: list[str]) -> str:
    if not texts:
        return "none"
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def as_list(answer: Any) -> list[Any] | None:
    """The members of a list, tuple or set; None for anything else, including a string or a mapping."""
    if isinstance(answer, (list, tuple)):
        return list(answer)
    # Sets have no order, but a run should give the same result every time.
    return sorted(answer, key=as_text) if isinstance(answer, Set) else None


def single(answer: Any) -> Any:
    """The only member of a list of length one; other answers as they are."""
    members = as_list(answer)
    return members[0] if members is not None and len(members) == 1 else answer


def as_measure(answer: Any) -> Measure | None:
    """The number and the unit that an answer is or that its text says; None if it says anything else.

    >>> as_measure("$1.2 million"), as_measure("12%"), as_measure("3 kilograms"), as_measure("50 Cent")
    (Measure(number=1200000, unit='$'), Measure(number=12, unit='%'), Measure(number=3, unit='kg'), None)
    """
    answer = single(answer)
    if isinstance(answer, bool):
        return None
    if isinstance(answer, (int, float)):
        return Measure(answer) if isinstance(answer, int) or math.isfinite(answer) else None
    if isinstance(answer, (Decimal, Fraction)):
        # These types do not mix with floats.
        return Measure(float(answer))
    if isinstance(answer, timedelta):
        return Measure(answer.total_seconds(), "s")
    if isinstance(answer, datetime):
        zone = "" if answer.utcoffset() is None else " with a time zone"
        seconds = (answer - datetime.min.replace(tzinfo=answer.tzinfo)) - (answer.utcoffset() or timedelta())
        return Measure(1 + seconds / timedelta(days=1), f"date{zone}")
    if isinstance(answer, date):
        return Measure(answer.toordinal(), "date")
    return _measure_in(" ".join(answer.split())) if isinstance(answer, str) else None


def _measure_in(text: str) -> Measure | None:
    if len(text) > _LONGEST_NUMBER:
        return None
    if text.lower() in _WORDS:
        return Measure(_WORDS.index(text.lower()))
    if _ISO_DATE.fullmatch(text):
        try:
            return Measure(date.fromisoformat(text).toordinal(), "date")
        except ValueError:
            return None
    match = _MEASURE.fullmatch(text.removesuffix(".") if text[-2:-1].isalnum() else text)
    if match is None or (match["money"] and match["unit"]):
        return None
    sign = -1 if match["sign"] in ("-", "−") else 1
    number = sign * Decimal(match["digits"].replace(",", "")) * _SCALES[match["scale"] or ""]
    plain = int(number) if number == number.to_integral_value() and "." not in match["digits"] else float(number)
    return Measure(tidy(plain) if match["scale"] else plain, match["money"] or _unit(match["unit"] or ""))


def _unit(text: str) -> str:
    """The unit with one spelling for its names; a plural is its singular."""
    if text in _UNIT_NAMES:
        return _UNIT_NAMES[text]
    is_plural = len(text) > 3 and text.endswith("s") and not text.endswith("ss")
    single_ = text[:-1] if is_plural else text
    return _UNIT_NAMES.get(single_, single_)


def as_number(answer: Any) -> int | float | None:
    """The number that an answer is or that its text says, if it has no unit; None if it says anything else.

    >>> as_number("1,250"), as_number("2.5"), as_number("two"), as_number(["7"]), as_number("Peru"), as_number(True)
    (1250, 2.5, 2, 7, None, None)
    """
    measure = as_measure(answer)
    return measure.number if measure is not None and not measure.unit else None


def tidy(answer: Any) -> Any:
    """A float that is a whole number becomes an int; everything else stays."""
    return int(answer) if isinstance(answer, float) and answer.is_integer() else answer


def as_key(answer: Any) -> Hashable:
    """A key that equal answers share: measures by value, strings without case and outer spaces."""
    measure = as_measure(answer)
    if measure is not None:
        return measure if measure.unit else measure.number
    answer = single(answer)
    if isinstance(answer, str):
        return " ".join(answer.casefold().split())
    return answer if isinstance(answer, Hashable) else repr(answer)


def unique(answers: Iterable[Any]) -> list[Any]:
    """The answers, each thing once; measures stay, because two equal measurements are still two."""
    kept: dict[Hashable, Any] = {}
    for n, answer in enumerate(answers):
        kept.setdefault(as_key(answer) if as_measure(answer) is None else (n,), answer)
    return list(kept.values())


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


def compare(relation: Callable[[Any, Any], bool], left: Any, right: Any, *, is_literal: bool = False) -> bool | None:
    """Whether the relation holds between two answers; None if their types or units do not allow it.

    A number ``right`` that is literally in the step takes the unit of what it is compared with; with dates, it is a
    year.
    """
    first, second = as_measure(left), as_measure(right)
    if first is not None and second is not None:
        if is_literal and not second.unit and first.unit == "date":
            year = date.fromordinal(int(first.number)).year
            return bool(relation(year, second.number)) if _YEAR.fullmatch(str(second.number)) else None
        if first.unit == second.unit or (is_literal and not second.unit and not first.unit.startswith("date")):
            return bool(relation(first.number, second.number))
        return None
    if relation is operator.eq and not isinstance(left, Mapping) and not isinstance(right, Mapping):
        several = [as_list(left), as_list(right)]
        if any(members is not None and len(members) != 1 for members in several):
            return None
        return as_key(left) == as_key(right)
    return None
