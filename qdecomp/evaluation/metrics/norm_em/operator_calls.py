"""Which operator a step is, by its words, and with which arguments.

The tests look for substrings, as the official evaluator does: ``island`` contains ``is``. Operators that it recognizes
but can never build a call for (GROUP, for example) have a row here too, since the first row that matches decides and
hides those below.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from qdecomp.evaluation.metrics.norm_em.document import PHRASES_OF_OPERATOR, Span

_Names: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
"""Names, each with the words of which one must be there."""

_AGGREGATORS: _Names = (
    ("COUNT", ("number of",)),
    ("MAX", ("max", "highest", "largest", "most", "longest", "biggest", "more", "last", "longer", "higher", "larger")),
    (
        "MIN",
        ("min", "lowest", "smallest", "least", "shortest", "less", "first", "shorter", "lower", "fewer", "smaller"),
    ),
    ("SUM", ("sum", "total")),
    ("AVG", ("average", "avg", "mean ")),
)
# The words on both sides of "&" must be there.
_POSITIONS: _Names = (
    ("POS_LEFT_OF", (" left ",)),
    ("POS_RIGHT_OF", (" right ",)),
    ("POS_BETWEEN", (" between ", " middle of ")),
    ("POS_BEHIND_OF", (" behind ", " rear of ")),
    ("POS_IN_FRONT_OF", (" in & front ", " infront ")),
    ("POS_TOUCHING", (" touch",)),
    ("POS_REFLECTING", (" reflect",)),
    ("POS_COVERS", (" cover", " obscur", " blocking", " blocked", " hidden", " obstruct")),
    ("POS_NEAR", (" near", " close ", " closer ", " closest ", " next to ", " adjacent ")),
)
_COMPARATORS: _Names = (
    (">=", ("at least",)),
    ("=<", ("at most",)),
    (">", ("more", "higher", "larger")),
    ("<", ("less", "smaller", "lower")),
)
_EQUALITY = ("same as", "equal", "is", "was", "are")
_NO_COMPARATOR = "FILTER"

_AGGREGATED = tuple(
    f"{noun}{joint} #"
    for noun in (
        *("number of", "highest", "largest", "lowest", "smallest", "maximum", "minimum", "max", "min", "sum"),
        *("total", "average", "avg", "mean "),
    )
    for joint in ("", " of")
)
_COMPARATIVE_WORDS = (
    *("same as", "higher than", "larger than", "smaller than", "lower than", "more", "less", "at least", "at most"),
    *("equal", "is", "are", "was", "contain", "include", "has", "have", "end with", "start with", "ends with"),
    *("starts with", "begin"),
)
_ARITHMETIC = tuple(article + noun for noun in PHRASES_OF_OPERATOR["ARITHMETIC"] for article in ("", "the "))
_ONLY_REFERENCES = re.compile(r"[#\s]+[and0-9#or,\s]+$|both[#\s]+[and0-9#,\s]+$")
_REFERENCE_AT_AN_END = re.compile(r"^[#]+[0-9]+[\s]+|[#]+[0-9]+$")
_REFERENCE_INSIDE = re.compile(r"[\s]+[#]+[0-9\s]+")


@dataclass(frozen=True, slots=True)
class MakeCall:
    """Turn the node into an operator call whose arguments are these spans; all of them or nothing."""

    operator: str
    property: str | None
    spans: tuple[Span, ...]


def operator_call(words: Sequence[str]) -> MakeCall | None:
    """The call that a step is, in which references are written ``#1``; None if it is none.

    Those of an operator's arguments that are not words of the step become its property.

    >>> operator_call(("number", "of", "#2"))
    MakeCall(operator='AGGREGATE', property='COUNT', spans=((2, 2),))
    """
    step = _read(" ".join(words))
    if step is None:
        return None
    row = next((row for row in _OPERATORS if row.fits(step)), None)
    if row is None:
        return None
    spans: list[Span] = []
    properties: list[str] = []
    for argument in row.arguments(step) or (None,):
        if argument is None:
            return None
        wanted = argument.split(" ")
        starts = range(len(words) - len(wanted) + 1)
        first = next((start for start in starts if [*words[start : start + len(wanted)]] == wanted), None)
        if first is None:
            properties.append(argument)
        else:
            spans.append((first, first + len(wanted) - 1))
    if len(properties) not in row.properties or len(spans) not in row.spans:
        return None
    return MakeCall(row.name, properties[0] if properties else None, tuple(spans))


def aggregator_in(text: str) -> str | None:
    """The aggregate that the words name, such as ``MAX``."""
    return _first_in(_AGGREGATORS, text)


def _first_in(names: _Names, text: str) -> str | None:
    found = (name for name, words in names if any(all(part in text for part in word.split("&")) for word in words))
    return next(found, None)


@dataclass(frozen=True, slots=True)
class _Step:
    text: str
    references: tuple[str, ...]

    @property
    def count(self) -> int:
        """How many references there are."""
        return len(self.references)

    def has(self, *words: str) -> bool:
        """Whether one of the words occurs, possibly inside another."""
        return any(word in self.text for word in words)


def _read(text: str) -> _Step | None:
    """A step with its references; None if something after a ``#`` is not a number."""
    pieces = text.replace("# ", "hashtag ").replace(", ", " or ").split("#")
    words = [piece.split(maxsplit=1)[:1] for piece in pieces[1:] if piece]
    if not all(word and word[0].isdecimal() for word in words):
        return None
    return _Step(text, tuple(f"#{int(word[0])}" for word in words))


_Arguments: TypeAlias = Sequence[str | None] | None


def _references(step: _Step) -> _Arguments:
    return step.references


def _filter(step: _Step) -> _Arguments:
    return _first_in(_POSITIONS, step.text), *step.references


def _aggregate(step: _Step) -> _Arguments:
    return aggregator_in(step.text), *step.references


def _comparison(step: _Step) -> _Arguments:
    aggregator = aggregator_in(step.text)
    return (aggregator, *step.references) if aggregator in ("MIN", "MAX") else None


def _boolean(step: _Step) -> _Arguments:
    references = step.references
    condition = step.text.partition(" ")[2]
    position = _first_in(_POSITIONS, condition)
    if position is not None and len(references) > 1:
        return position, *references
    comparator = _comparator_in(condition)
    if comparator != _NO_COMPARATOR and len(references) <= 2:
        return comparator, references[0], step.text.split()[-1]
    if len(references) != 1:
        return None
    if "there " in condition and "any " in condition:
        return ("EXIST", *references) if condition.endswith(references) else None
    if condition.endswith(" the same") and condition.startswith(("all ", "#", "both ")):
        return "SAME", *references
    return None


def _is_discard(step: _Step) -> bool:
    found = _REFERENCE_AT_AN_END.search(step.text)
    return found is not None and step.count <= 2 and step.has("besides", "not in")


def _is_superlative(step: _Step) -> bool:
    words = PHRASES_OF_OPERATOR["SUPERLATIVE"]
    return step.text.startswith("#") and step.count == 2 and step.has("where") and step.has(*words)


def _is_comparative(step: _Step) -> bool:
    return step.count in (2, 3) and step.has("where") and step.has(*_COMPARATIVE_WORDS)


def _comparative(step: _Step) -> _Arguments:
    """What is compared, its attribute, the comparator, and the other side: a reference or words."""
    if "where #" in step.text:
        parts = [_read(part) for part in step.text.split("where")]
        compared = [part.references[0] for part in parts if part is not None and part.references]
        if len(parts) != 2 or len(compared) != 2:
            return None
    elif step.count == 2:
        compared = [*step.references]
    else:
        return None
    comparator = _comparator_in(step.text)
    if comparator == _NO_COMPARATOR:
        value = step.text.split("#", 2)[2].lstrip("0123456789").strip()
    else:
        value = step.text.split()[-1]
    other = _read(value)
    if other is None or len(other.references) > 1:
        return None
    return *compared, comparator, *(other.references or (value,))


def _comparator_in(text: str) -> str:
    ordered = _first_in(_COMPARATORS, text)
    if ordered is not None:
        return ordered
    if any(word in text for word in _EQUALITY):
        if "not " in text:
            return "!="
        if "any" not in text:
            return "="
    return "CONTAINS" if "contain" in text else _NO_COMPARATOR


class _Operator(NamedTuple):
    """An operator: its test, its arguments, and of how many properties and spans of the step these must consist."""

    name: str
    fits: Callable[[_Step], object]
    arguments: Callable[[_Step], _Arguments] = lambda step: None
    properties: Container[int] = ()
    spans: Container[int] = ()


_SOME, _SEVERAL = range(1, sys.maxsize), range(2, sys.maxsize)
_OPERATORS = (
    _Operator("SELECT", lambda step: step.count == 0),
    _Operator("AGGREGATE", lambda step: step.count == 1 and step.has(*_AGGREGATED), _aggregate, {1}, {1}),
    _Operator("GROUP", lambda step: step.has("for each")),
    _Operator("COMPARATIVE", _is_comparative, _comparative, {1}, {3}),
    _Operator("SUPERLATIVE", _is_superlative, _aggregate, {1}, {2}),
    _Operator("UNION", lambda step: step.count > 1 and _ONLY_REFERENCES.match(step.text), _references, {0}, _SEVERAL),
    _Operator("INTERSECTION", lambda step: step.count > 1 and step.has("both") and step.has("and")),
    _Operator("DISCARD", _is_discard, _references, {0}, {2}),
    _Operator("SORT", lambda step: step.has("sorted by", "order by", "ordered by")),
    _Operator("BOOLEAN", lambda step: step.text.startswith(("if ", "is ", "are ")), _boolean, {1}, _SOME),
    _Operator("COMPARISON", lambda step: step.text.startswith("which") and step.count > 1, _comparison, {1}, _SEVERAL),
    _Operator("ARITHMETIC", lambda step: step.has("and", ",") and step.text.startswith(_ARITHMETIC)),
    _Operator("PROJECT", lambda step: step.count == 1 and _REFERENCE_INSIDE.search(step.text)),
    _Operator("FILTER", lambda step: step.text.startswith("#"), _filter, {0, 1}, {2}),
)
