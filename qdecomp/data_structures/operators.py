"""The fourteen operators of QDMR, each with everything that is true of it, in one row.

This table is the vocabulary of the whole project: logical forms, edge tags and parsers name operators,
properties and arguments by nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType

__all__ = ["ARGUMENT_NAMES", "OPERATORS", "Operator", "OperatorSignature"]


class Operator(str, Enum):
    """What a step computes."""

    SELECT = "select"
    FILTER = "filter"
    PROJECT = "project"
    AGGREGATE = "aggregate"
    GROUP = "group"
    SUPERLATIVE = "superlative"
    COMPARATIVE = "comparative"
    COMPARISON = "comparison"
    UNION = "union"
    INTERSECTION = "intersection"
    DISCARD = "discard"
    SORT = "sort"
    BOOLEAN = "boolean"
    ARITHMETIC = "arithmetic"

    # Enum's own hash is written in Python, and operators are looked up for every step of everything.
    __hash__ = str.__hash__

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class OperatorSignature:
    """What is true of an operator: everything that the conversions, the decoder and the metric ask about it."""

    arguments: tuple[str, ...]
    """The argument names, in the order in which they are written."""
    properties: tuple[str, ...]
    step: str
    """A step of this operator, as an example."""
    logical_form: str
    """The logical form of that step."""
    word_arguments: tuple[str, ...]
    """Where a step's words go: to the first of these arguments that no reference fills, or else to the first of all."""
    required: Mapping[str, int] = field(default_factory=dict)
    """How often an argument must be there at least, as a reference or as words."""
    listed: tuple[str, ...] = ()
    """Arguments whose references are arguments of their own; in the others, words and references make one argument."""
    references_hide_words: bool = False
    """Whether the published metric sees only the references of an argument, unless there are none."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "required", MappingProxyType(dict(self.required)))


_EXTREMES = ("max", "min")
_AGGREGATES = (*_EXTREMES, "count", "sum", "avg")
_NUMBERS = ("0", "1", "2")
_EQUALS = ("equals", *(f"equals-{n}" for n in _NUMBERS))
_MORE = tuple(f"more-than-{n}" for n in _NUMBERS)
_LESS = tuple(f"less-than-{n}" for n in _NUMBERS)
_LOGICAL = ("and-true", "and-false", "or-true", "or-false")

OPERATORS: Mapping[Operator, OperatorSignature] = MappingProxyType(
    {
        Operator.SELECT: OperatorSignature(
            ("sub",),
            (),
            "cubes",
            "SELECT[](sub=cubes)",
            word_arguments=("sub",),
            required={"sub": 1},
        ),
        Operator.FILTER: OperatorSignature(
            ("sub", "condition"),
            (),
            "#1 from Toronto",
            "FILTER[](sub=#1, condition=from Toronto)",
            word_arguments=("condition",),
            required={"sub": 1},
        ),
        Operator.PROJECT: OperatorSignature(
            ("sub", "projection"),
            (),
            "the head coach of #1",
            "PROJECT[](sub=#1, projection=the head coach of)",
            word_arguments=("projection",),
            required={"sub": 1},
        ),
        Operator.AGGREGATE: OperatorSignature(
            ("arg",),
            _AGGREGATES,
            "maximal number of #1",
            "AGGREGATE[max](arg=#1)",
            word_arguments=("arg",),
            required={"arg": 1},
            references_hide_words=True,
        ),
        Operator.GROUP: OperatorSignature(
            ("key", "value"),
            _AGGREGATES,
            "the number of #2 for each #1",
            "GROUP[count](key=#1, value=#2)",
            word_arguments=("value", "key"),
            references_hide_words=True,
        ),
        Operator.SUPERLATIVE: OperatorSignature(
            ("sub", "attribute"),
            _EXTREMES,
            "#2 where #3 is the lowest",
            "SUPERLATIVE[min](sub=#2, attribute=#3)",
            word_arguments=("attribute", "sub"),
            required={"sub": 1, "attribute": 1},
            references_hide_words=True,
        ),
        Operator.COMPARATIVE: OperatorSignature(
            ("sub", "attribute", "condition"),
            (*_EQUALS, "more", *_MORE, "less", *_LESS),
            "#1 where #2 is more than 100",
            "COMPARATIVE[more](sub=#1, attribute=#2, condition=100)",
            word_arguments=("condition",),
            required={"sub": 1, "attribute": 1},
        ),
        Operator.COMPARISON: OperatorSignature(
            ("arg",),
            (*_AGGREGATES, "true", "false"),
            "which is higher of #1, #2",
            "COMPARISON[max](arg=#1, arg=#2)",
            word_arguments=("arg",),
            required={"arg": 2},
            listed=("arg",),
            references_hide_words=True,
        ),
        Operator.UNION: OperatorSignature(
            ("sub",),
            (),
            "#1, #2",
            "UNION[](sub=#1, sub=#2)",
            word_arguments=("sub",),
            required={"sub": 2},
            listed=("sub",),
            references_hide_words=True,
        ),
        Operator.INTERSECTION: OperatorSignature(
            ("intersect", "projection"),
            (),
            "parties in both #2 and #3",
            "INTERSECTION[](intersect=#2, intersect=#3, projection=parties)",
            word_arguments=("projection",),
            required={"intersect": 2},
            listed=("intersect",),
        ),
        Operator.DISCARD: OperatorSignature(
            ("sub", "exclude"),
            (),
            "#1 besides #2",
            "DISCARD[](sub=#1, exclude=#2)",
            word_arguments=("exclude", "sub"),
            required={"sub": 1, "exclude": 1},
        ),
        Operator.SORT: OperatorSignature(
            ("sub", "order"),
            (),
            "#1 ordered by name",
            "SORT[](sub=#1, order=name)",
            word_arguments=("order", "sub"),
            required={"sub": 1, "order": 1},
        ),
        Operator.BOOLEAN: OperatorSignature(
            ("sub", "condition"),
            (*_EQUALS, *_MORE, *_LESS, *_LOGICAL, "if-exists"),
            "if #1 is the same as #2",
            "BOOLEAN[equals](sub=#1, condition=#2)",
            word_arguments=("condition",),
            required={"sub": 1},
            listed=("sub",),
        ),
        Operator.ARITHMETIC: OperatorSignature(
            ("arg", "left", "right"),
            ("sum", "diff", "multiply", "div"),
            "the difference of #3 and #4",
            "ARITHMETIC[diff](left=#3, right=#4)",
            word_arguments=("left", "right"),
            listed=("arg",),
            references_hide_words=True,
        ),
    }
)

ARGUMENT_NAMES: frozenset[str] = frozenset(name for signature in OPERATORS.values() for name in signature.arguments)
