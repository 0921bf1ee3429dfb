"""Which operator a step is, by its words, and with which arguments.

The tests look for substrings, as the official evaluator does: ``island`` contains ``is``. Operators that it recognizes
but can never build a call for (GROUP, for example) have a row here too, since the first row that matches decides and
hides those below.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

_Names: TypeAlias = tuple[str, ...]

_AGGREGATORS: tuple[tuple[str, _Names], ...] = (
    ("COUNT", ("number of",)),
    (
        "MAX",
        ("max", "highest", "largest", "most", "longest", "biggest", "more", "last", "longer", "higher", "larger"),
    ),
    (
        "MIN",
        (
            *("min", "lowest", "smallest", "least", "shortest", "less", "first", "shorter", "lower", "fewer"),
            "smaller",
        ),
    ),
    ("SUM", ("sum", "total")),
    ("AVG", ("average", "avg", "mean ")),
)
# The words on both sides of "&" must be there.
_POSITIONS: tuple[tuple[str, _Names], ...] = (
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
_COMPARATORS: tuple[tuple[str, _Names], ...] = (
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
_SUPERLATIVES = ("highest", "largest", "most", "smallest", "lowest", "least", "longest", "shortest", "biggest")
_ARITHMETIC = tuple(
    article + noun for noun in ("sum", "difference", "multiplication", "division") for article in ("", "the ")
)
_ONLY_REFERENCES = re.compile(r"[#\s]+[and0-9#or,\s]+$|both[#\s]+[and0-9#,\s]+$")
_REFERENCE_AT_AN_END = re.compile(r"^[#]+[0-9]+[\s]+|[#]+[0-9]+$")
_REFERENCE_INSIDE = re.compile(r"[\s]+[#]+[0-9\s]+")


@dataclass(frozen=True, slots=True)
class StepText:
    """A step with its references written ``#1``, and the numbers of these."""

    text: str
    references: tuple[int, ...]

    def has(self, *words: str) -> bool:
        """Whether one of the words occurs, possibly inside another."""
        return _has(self.text, words)


@dataclass(frozen=True, slots=True)
class Arguments:
    """An operator and its arguments as texts; those that are not words of the step become the operator's property."""

    operator: str
    texts: tuple[str, ...]

    def counts_fit(self, properties: int, places: int) -> bool:
        """Whether the operator takes that many properties and that many arguments."""
        allowed_properties, least, most = _COUNTS[self.operator]
        return properties in allowed_properties and least <= places <= (most or places)


_COUNTS: dict[str, tuple[tuple[int, ...], int, int | None]] = {
    "AGGREGATE": ((1,), 1, 1),
    "BOOLEAN": ((1,), 1, None),
    "COMPARATIVE": ((1,), 3, 3),
    "COMPARISON": ((1,), 2, None),
    "DISCARD": ((0,), 2, 2),
    "FILTER": ((0, 1), 2, 2),
    "SUPERLATIVE": ((1,), 2, 2),
    "UNION": ((0,), 2, None),
}


def step_text(text: str) -> StepText | None:
    """Find the references of a step; None if something after a ``#`` is not a number."""
    pieces = text.replace("# ", "hashtag ").replace(", ", " or ").split("#")
    words = [piece.split(maxsplit=1)[:1] for piece in pieces[1:] if piece]
    if not all(word and word[0].isdecimal() for word in words):
        return None
    return StepText(text, tuple(int(word[0]) for word in words))


def aggregator_in(text: str) -> str | None:
    """The aggregate that the words name, such as ``MAX``."""
    return _first_in(_AGGREGATORS, text)


def operator_arguments(step: StepText) -> Arguments | None:
    """The operator of a step with its arguments; None if there is none, or none that can become a call.

    >>> operator_arguments(step_text("number of #2"))
    Arguments(operator='AGGREGATE', texts=('COUNT', '#2'))
    """
    operator = classify(step)
    find_arguments = _ARGUMENTS.get(operator)
    texts = find_arguments(step) if find_arguments else None
    if texts is None or None in texts:
        return None
    return Arguments(operator, tuple(text for text in texts if text is not None))


def classify(step: StepText) -> str:
    """The name of the first operator whose test fits.

    >>> classify(step_text("#1 where #2 is highest")), classify(step_text("objects"))
    ('COMPARATIVE', 'SELECT')
    """
    return next((operator for operator, fits in _TESTS if fits(step)), "NONE")


_TESTS: tuple[tuple[str, Callable[[StepText], bool]], ...] = (
    ("SELECT", lambda step: not step.references),
    ("AGGREGATE", lambda step: len(step.references) == 1 and step.has(*_AGGREGATED)),
    ("GROUP", lambda step: step.has("for each")),
    (
        "COMPARATIVE",
        lambda step: len(step.references) in (2, 3) and step.has("where") and step.has(*_COMPARATIVE_WORDS),
    ),
    (
        "SUPERLATIVE",
        lambda step: (
            step.text.startswith("#") and step.has("where") and len(step.references) == 2 and step.has(*_SUPERLATIVES)
        ),
    ),
    ("UNION", lambda step: len(step.references) > 1 and _ONLY_REFERENCES.match(step.text) is not None),
    ("INTERSECTION", lambda step: len(step.references) > 1 and step.has("both") and step.has("and")),
    (
        "DISCARD",
        lambda step: (
            len(step.references) in (1, 2)
            and _REFERENCE_AT_AN_END.search(step.text) is not None
            and step.has("besides", "not in")
        ),
    ),
    ("SORT", lambda step: step.has("sorted by", "order by", "ordered by")),
    ("BOOLEAN", lambda step: step.text.startswith(("if ", "is ", "are "))),
    ("COMPARISON", lambda step: step.text.startswith("which") and len(step.references) > 1),
    ("ARITHMETIC", lambda step: step.has("and", ",") and step.text.startswith(_ARITHMETIC)),
    ("PROJECT", lambda step: len(step.references) == 1 and _REFERENCE_INSIDE.search(step.text) is not None),
    ("FILTER", lambda step: len(step.references) == 1 and step.text.startswith("#")),
    ("FILTER", lambda step: step.text.startswith("#") and _position_in(step.text) is not None),
)


def _has(text: str, words: Sequence[str]) -> bool:
    return any(word in text for word in words)


def _has_all(text: str, words: Sequence[str]) -> bool:
    return all(word in text for word in words)


def _first_in(table: tuple[tuple[str, _Names], ...], text: str) -> str | None:
    return next((name for name, words in table if any(_has_all(text, word.split("&")) for word in words)), None)


def _position_in(text: str) -> str | None:
    """The spatial relation that the words name."""
    return _first_in(_POSITIONS, text)


def _comparator_in(text: str) -> str:
    ordered = _first_in(_COMPARATORS, text)
    if ordered is not None:
        return ordered
    if _has(text, _EQUALITY):
        if "not " in text:
            return "!="
        if "any" not in text:
            return "="
    return "CONTAINS" if "contain" in text else _NO_COMPARATOR


def _mentions(step: StepText) -> tuple[str, ...]:
    return tuple(f"#{number}" for number in step.references)


def _last_word(text: str) -> str:
    return text.split()[-1]


def _aggregate(step: StepText) -> tuple[str | None, ...]:
    return aggregator_in(step.text), *_mentions(step)


def _comparison(step: StepText) -> tuple[str | None, ...] | None:
    aggregator = aggregator_in(step.text)
    return (aggregator, *_mentions(step)) if aggregator in ("MIN", "MAX") else None


def _boolean(step: StepText) -> tuple[str, ...] | None:
    references = _mentions(step)
    condition = step.text.partition(" ")[2]
    position = _position_in(condition)
    if position is not None and len(references) > 1:
        return position, *references
    comparator = _comparator_in(condition)
    if comparator != _NO_COMPARATOR and len(references) <= 2:
        return comparator, references[0], _last_word(step.text)
    if len(references) != 1:
        return None
    if "there " in condition and "any " in condition:
        return ("EXIST", *references) if condition.endswith(references) else None
    if condition.endswith(" the same") and condition.startswith(("all ", "#", "both ")):
        return "SAME", *references
    return None


def _comparative(step: StepText) -> tuple[str, ...] | None:
    entity_and_attribute = _compared(step)
    if entity_and_attribute is None:
        return None
    comparator = _comparator_in(step.text)
    value: str = _last_word(step.text) if comparator != _NO_COMPARATOR else _after_second_reference(step)
    parsed = step_text(value)
    if parsed is None or len(parsed.references) > 1:
        return None
    return *entity_and_attribute, comparator, *(_mentions(parsed) or (value,))


def _compared(step: StepText) -> tuple[str, str] | None:
    """The entity and its attribute: the first reference before and the first one after ``where``."""
    if "where #" not in step.text:
        references = _mentions(step)
        return (references[0], references[1]) if len(references) == 2 else None
    parts = [step_text(part) for part in step.text.split("where")]
    if len(parts) != 2:
        return None
    entity, attribute = parts
    if entity is None or attribute is None or not entity.references or not attribute.references:
        return None
    return _mentions(entity)[0], _mentions(attribute)[0]


def _after_second_reference(step: StepText) -> str:
    return step.text.split("#", 2)[2].lstrip("0123456789").strip()


def _two_references(step: StepText) -> tuple[str, ...] | None:
    return _mentions(step) if len(step.references) == 2 else None


def _positional(step: StepText) -> tuple[str, ...] | None:
    position = _position_in(step.text)
    return None if position is None else (position, *_mentions(step))


_ARGUMENTS: dict[str, Callable[[StepText], Sequence[str | None] | None]] = {
    "AGGREGATE": _aggregate,
    "BOOLEAN": _boolean,
    "COMPARATIVE": _comparative,
    "COMPARISON": _comparison,
    "DISCARD": _two_references,
    "FILTER": _positional,
    "SUPERLATIVE": _aggregate,
    "UNION": _mentions,
}
