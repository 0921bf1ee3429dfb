"""The fourteen operators of QDMR, one row of a table each.

This table is the vocabulary of the whole project: logical forms, edge tags and parsers take the names of operators,
properties and arguments from it. The phrases that express a property are in ``lexicon/properties.json``, and how people
write steps is in :mod:`.conversion.step_rules`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeVar

RowFunction = TypeVar("RowFunction", bound=Callable[..., Any])


class TextEnum(str, Enum):
    """An enumeration whose members are strings, like Python 3.11's ``StrEnum``."""

    # Enum's own hash is written in Python, and operators are looked up for every step.
    __hash__ = str.__hash__
    __str__ = str.__str__


class Operator(TextEnum):
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


@dataclass(frozen=True, slots=True)
class Template:
    """How a logical step is written.

    ``{sub}`` stands for all arguments of that name, joined by ``separator``; ``{sub_reference}`` and ``{sub_others}``
    for their first reference and all other tokens; ``{sub_before}`` and ``{sub_rest}`` for the tokens before it and the
    rest; ``{sub_head}`` and ``{sub_tail}`` for the two parts of a split, tried at every position from the last.
    ``{property}`` is what ``properties`` has for the step's property (None if it has none), or, with ``every_phrase``,
    each phrase that expresses it in turn: with the words around it, perhaps only one of them can be read back.
    """

    text: str
    properties: Mapping[str | None, str] = field(default_factory=lambda: {None: ""})
    separator: str = " , "
    every_phrase: bool = False


@dataclass(frozen=True, slots=True)
class OperatorSignature:
    """Everything that the conversions, the decoder and the metrics need to know about an operator."""

    arguments: tuple[str, ...]  # their names, in the order they are written
    properties: tuple[str, ...]
    step: str  # an example, which the page shows
    templates: tuple[Template, ...]
    """How its steps are written. The first that applies to the property and reads back to the same step is used."""
    word_arguments: tuple[str, ...] = ()
    """Where a step's words go: to the first of these arguments that no reference fills, or else to the first of all; if
    none is named, to the last argument."""
    required: Mapping[str, int] = field(default_factory=dict)
    """The minimum count of each argument, whether references or words."""
    operands: int = 0  # the minimum number of arguments, whatever their names
    listed: tuple[str, ...] = ()
    """Arguments in which every reference is a separate argument; in others, words and references form one argument."""
    single: tuple[str, ...] = ()
    """Arguments with at most one reference in a graph. One gold aggregate in a hundred has two, but of the
    aggregates that parsers predict with two, hardly any is right."""
    describes: bool = False  # its words describe things; such steps can be split and joined, others compute
    narrows: bool = False  # its result is a subset of its input, or all of it reordered
    references_hide_words: bool = False
    """Whether its arguments are references: words next to one that only repeat the property do not belong to the
    argument, and the published metric sees no words there at all."""
    prefers_bare_words: bool = False
    """Whether words next to a reference need no token of the question if another argument consists of words only."""
    useful_words: frozenset[str] = frozenset(("distinct",))
    """Words without content that a step should keep next to its content, if the question has them."""
    absorbs: frozenset[Operator] = frozenset()
    """If the step at ``sub`` has one of these operators, LF-EM merges it into this one."""

    def __post_init__(self) -> None:
        if not self.word_arguments:
            object.__setattr__(self, "word_arguments", self.arguments[-1:])


_EXTREMES = ("max", "min")
_AGGREGATES = (*_EXTREMES, "count", "sum", "avg")
_EQUALS = ("equals", "equals-0", "equals-1", "equals-2")
_MORE = ("more-than-0", "more-than-1", "more-than-2")
_LESS = ("less-than-0", "less-than-1", "less-than-2")
_LOGICAL = ("and-true", "and-false", "or-true", "or-false")


def _numbered(form: str, phrase: str) -> dict[str | None, str]:
    return {f"{form}-{number}": f"{phrase} {word}" for number, word in enumerate(("zero", "one", "two"))}


_SUPERLATIVE = {"max": "highest", "min": "lowest", None: ""}
_AGGREGATED = {"max": "highest", "min": "lowest", "count": "number", "sum": "sum", "avg": "average", None: ""}
_COMPARED: dict[str | None, str] = {
    **_numbered("equals", "is equal to"),
    **_numbered("more-than", "is more than"),
    **_numbered("less-than", "is less than"),
    **{"equals": "is the same as", "more": "is more than", "less": "is less than", None: ""},
}
_DIFFERENCE: dict[str | None, str] = {"diff": "difference", "div": "division"}
_SUM: dict[str | None, str] = {"sum": "sum", "multiply": "multiplication"}

OPERATORS: Mapping[Operator, OperatorSignature] = {
    Operator.SELECT: OperatorSignature(
        ("sub",), (), "cubes", templates=(Template("{sub}"),), required={"sub": 1}, describes=True
    ),
    Operator.FILTER: OperatorSignature(
        ("sub", "condition"),
        (),
        "#1 from Toronto",
        templates=(Template("{sub} {condition}"), Template("{sub} that {condition}")),
        required={"sub": 1},
        single=("sub",),
        describes=True,
        narrows=True,
        absorbs=frozenset((Operator.FILTER, Operator.SELECT)),
    ),
    Operator.PROJECT: OperatorSignature(
        ("sub", "projection"),
        (),
        "the head coach of #1",
        templates=(Template("{projection_head} {sub} {projection_tail}"),),
        required={"sub": 1},
        single=("sub",),
        describes=True,
        useful_words=frozenset(("when", "where", "who", "how", "distinct")),
        absorbs=frozenset((Operator.SELECT,)),
    ),
    Operator.AGGREGATE: OperatorSignature(
        ("arg",),
        _AGGREGATES,
        "maximal number of #1",
        templates=(
            Template("{arg_before} {property} of {arg_rest}", _AGGREGATED),
            Template("{arg_before} {property} of {arg_rest}", every_phrase=True),
        ),
        required={"arg": 1},
        references_hide_words=True,
        single=("arg",),
    ),
    Operator.GROUP: OperatorSignature(
        ("key", "value"),
        _AGGREGATES,
        "the number of #2 for each #1",
        templates=(
            Template("{property} of {value} for each {key}", _AGGREGATED),
            Template("{property} of {value} for each {key}", every_phrase=True),
            # "the" stands in for an argument that had only words without a meaning.
            Template("{property} of {value} for each the", every_phrase=True),
            Template("{value} for each the"),
        ),
        word_arguments=("value", "key"),
        references_hide_words=True,
        prefers_bare_words=True,
    ),
    Operator.SUPERLATIVE: OperatorSignature(
        ("sub", "attribute"),
        _EXTREMES,
        "#2 where #3 is the lowest",
        templates=(Template("{sub} where {attribute_reference} is {property} {attribute_others}", _SUPERLATIVE),),
        word_arguments=("attribute", "sub"),
        required={"sub": 1, "attribute": 1},
        references_hide_words=True,
        single=("sub", "attribute"),
        narrows=True,
    ),
    Operator.COMPARATIVE: OperatorSignature(
        ("sub", "attribute", "condition"),
        (*_EQUALS, "more", *_MORE, "less", *_LESS),
        "#1 where #2 is more than 100",
        templates=(
            Template("{sub} where {attribute} {property} {condition}", _COMPARED),
            Template("{sub} where {attribute} is {condition}"),
            Template("{sub} where {attribute} {property} {condition}", {"equals": "equals"}),
            Template("{sub} where {attribute} is {property} {condition}", {"more": "at least", "less": "at most"}),
            Template("{sub} where {attribute} is {condition_head} {property} {condition_tail}", every_phrase=True),
        ),
        required={"sub": 1, "attribute": 1},
        single=("sub", "attribute"),
        narrows=True,
    ),
    Operator.COMPARISON: OperatorSignature(
        ("arg",),
        (*_AGGREGATES, "true", "false"),
        "which is higher of #1, #2",
        templates=(Template("which is {property} of {arg}", {**_AGGREGATED, "true": "true", "false": "false"}),),
        required={"arg": 2},
        listed=("arg",),
        references_hide_words=True,
    ),
    Operator.UNION: OperatorSignature(
        ("sub",),
        (),
        "#1, #2",
        templates=(Template("{sub}"),),
        required={"sub": 2},
        listed=("sub",),
        references_hide_words=True,
    ),
    Operator.INTERSECTION: OperatorSignature(
        ("intersect", "projection"),
        (),
        "parties in both #2 and #3",
        templates=(Template("{projection} in both {intersect}", separator=" and "),),
        required={"intersect": 2},
        listed=("intersect",),
        narrows=True,
    ),
    Operator.DISCARD: OperatorSignature(
        ("sub", "exclude"),
        (),
        "#1 besides #2",
        templates=(Template("{sub} besides {exclude}"), Template("{sub} not {exclude}")),
        word_arguments=("exclude", "sub"),
        required={"sub": 1, "exclude": 1},
        single=("sub", "exclude"),
        narrows=True,
    ),
    Operator.SORT: OperatorSignature(
        ("sub", "order"),
        (),
        "#1 ordered by name",
        templates=(Template("{sub} sorted by {order}"),),
        word_arguments=("order", "sub"),
        required={"sub": 1, "order": 1},
        narrows=True,
    ),
    Operator.BOOLEAN: OperatorSignature(
        ("sub", "condition"),
        (*_EQUALS, *_MORE, *_LESS, *_LOGICAL, "if-exists"),
        "if #1 is the same as #2",
        templates=(
            Template("if {sub} {property} {condition}", _COMPARED),
            Template("if {condition} {sub} {property}", _COMPARED),
            Template("if both {sub} are {property}", {"and-true": "true", "and-false": "false"}, " and "),
            Template("if either {sub} is {property}", {"or-true": "true", "or-false": "false"}, " or "),
            Template("if there is {property} {sub} {condition}", {"if-exists": "any"}),
            Template("if {condition_head} {sub} {condition_tail}"),
            Template("if {sub} is {condition_head} {property} {condition_tail}", every_phrase=True),
            Template("if {condition_head} {sub} is {property} {condition_tail}", every_phrase=True),
        ),
        required={"sub": 1},
        listed=("sub",),
    ),
    Operator.ARITHMETIC: OperatorSignature(
        ("arg", "left", "right"),
        ("sum", "diff", "multiply", "div"),
        "the difference of #3 and #4",
        templates=(
            Template("{property} of {left} and {right}", _DIFFERENCE),
            Template("{property} of {arg}", _SUM, " and "),
            Template("{property} of {arg}", {**_DIFFERENCE, None: ""}, " and "),
            # An argument expresses the property, in addition to that of the step.
            Template("{property} of {arg}", {"diff": "sum", "div": "sum", "multiply": "sum"}, " and "),
            # "the" stands in for an argument that had only words without a meaning.
            Template("{property} of {left} and the", _DIFFERENCE),
            Template("{property} of the and {right}", _DIFFERENCE),
            Template("{property} of the and {arg}", {**_SUM, "diff": "sum", "div": "sum"}),
        ),
        word_arguments=("left", "right"),
        listed=("arg",),
        references_hide_words=True,
        operands=2,
        single=("left", "right"),
        prefers_bare_words=True,
    ),
}

ARGUMENT_NAMES = frozenset(name for signature in OPERATORS.values() for name in signature.arguments)


def row_of(table: dict[Operator, RowFunction], *operators: Operator) -> Callable[[RowFunction], RowFunction]:
    """Register the decorated function in a table, as the row of these operators."""

    def register(function: RowFunction) -> RowFunction:
        table.update(dict.fromkeys(operators, function))
        return function

    return register
