"""The fourteen operators of QDMR, each with everything about it in one row.

This table is the vocabulary of the whole project: logical forms, edge tags and parsers take the names of operators,
properties and arguments from it. Which phrases show a property is in ``lexicon/properties.json``, and how people write
steps is in :mod:`.conversion.step_rules`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Any, TypeVar

__all__ = ["ARGUMENT_NAMES", "OPERATORS", "Operator", "OperatorSignature", "Template", "TextEnum", "row_of"]

RowFunction = TypeVar("RowFunction", bound=Callable[..., Any])
"""What a table of :func:`row_of` holds."""


class TextEnum(str, Enum):
    """An enumeration of texts; ``str`` gives the text, as Python's own ``StrEnum`` does from 3.11 on.

    >>> str(Operator.SELECT), f"{Operator.SELECT}", Operator.SELECT == "select"
    ('select', 'select', True)
    """

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


_NO_PROPERTY: Mapping[str | None, str] = MappingProxyType({None: ""})


@dataclass(frozen=True, slots=True)
class Template:
    """How a logical step is written.

    ``{sub}`` stands for all arguments of that name, joined by ``separator``. ``{sub_reference}`` and ``{sub_others}``
    stand for their first reference and all other tokens, ``{sub_before}`` and ``{sub_rest}`` for the tokens before the
    first reference and the rest. ``{sub_head}`` and ``{sub_tail}`` are the two parts of a split between any two tokens:
    such a template is tried at every split, the last one first.

    ``{property}`` is what ``properties`` has for the step's property, or for None if the step has none; the template
    applies to no other property. With ``every_phrase``, it is each phrase that shows the step's property in turn:
    because of the words next to it, perhaps only one of them can be read back.
    """

    text: str
    properties: Mapping[str | None, str] = field(default_factory=lambda: _NO_PROPERTY)
    separator: str = " , "
    every_phrase: bool = False


@dataclass(frozen=True, slots=True)
class OperatorSignature:
    """Everything that the conversions, the decoder and the metrics need to know about an operator."""

    arguments: tuple[str, ...]
    """The argument names, in the order in which they are written."""
    properties: tuple[str, ...]
    step: str
    """A step of this operator, as an example."""
    logical_form: str
    """The logical form of that step."""
    templates: tuple[Template, ...]
    """How its steps are written. The first that applies to the property and reads back to the same step is used."""
    word_arguments: tuple[str, ...]
    """Where a step's words go: to the first of these arguments that no reference fills, or else to the first of all."""
    required: Mapping[str, int] = field(default_factory=dict)
    """How often an argument must occur at least, as a reference or as words."""
    operands: int = 0
    """How many arguments there must be at least, whatever their names."""
    listed: tuple[str, ...] = ()
    """Arguments in which every reference is a separate argument; in others, words and references form one argument."""
    single: tuple[str, ...] = ()
    """Arguments that are at most one reference in a graph. One gold aggregate in a hundred has two, but of the
    aggregates that parsers predict with two, hardly any is right."""
    describes: bool = False
    """Whether its words describe things. Such steps can be split and joined; the steps of other operators compute."""
    narrows: bool = False
    """Whether its result is a part of what it is applied to, or all of it in another order."""
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
        object.__setattr__(self, "required", MappingProxyType(dict(self.required)))


_EXTREMES = ("max", "min")
_AGGREGATES = (*_EXTREMES, "count", "sum", "avg")
_NUMBERS = ("0", "1", "2")
_EQUALS = ("equals", *(f"equals-{n}" for n in _NUMBERS))
_MORE = tuple(f"more-than-{n}" for n in _NUMBERS)
_LESS = tuple(f"less-than-{n}" for n in _NUMBERS)
_LOGICAL = ("and-true", "and-false", "or-true", "or-false")


def _numbered(form: str, phrase: str) -> dict[str | None, str]:
    words = dict(zip(_NUMBERS, ("zero", "one", "two"), strict=True))
    return {f"{form}-{number}": f"{phrase} {word}" for number, word in words.items()}


_AGGREGATED: dict[str | None, str] = {
    "max": "highest",
    "min": "lowest",
    "count": "number",
    "sum": "sum",
    "avg": "average",
    None: "",
}
_COMPARED: dict[str | None, str] = {
    **_numbered("equals", "is equal to"),
    **_numbered("more-than", "is more than"),
    **_numbered("less-than", "is less than"),
    "equals": "is the same as",
    "more": "is more than",
    "less": "is less than",
    None: "",
}
_DIFFERENCE: dict[str | None, str] = {"diff": "difference", "div": "division"}
_SUM: dict[str | None, str] = {"sum": "sum", "multiply": "multiplication"}

OPERATORS: Mapping[Operator, OperatorSignature] = MappingProxyType(
    {
        Operator.SELECT: OperatorSignature(
            ("sub",),
            (),
            "cubes",
            "SELECT[](sub=cubes)",
            templates=(Template("{sub}"),),
            word_arguments=("sub",),
            required={"sub": 1},
            describes=True,
        ),
        Operator.FILTER: OperatorSignature(
            ("sub", "condition"),
            (),
            "#1 from Toronto",
            "FILTER[](sub=#1, condition=from Toronto)",
            templates=(
                Template("{sub} {condition}"),
                Template("{sub} that {condition}"),
            ),
            word_arguments=("condition",),
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
            "PROJECT[](sub=#1, projection=the head coach of)",
            templates=(Template("{projection_head} {sub} {projection_tail}"),),
            word_arguments=("projection",),
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
            "AGGREGATE[max](arg=#1)",
            templates=(
                Template("{arg_before} {property} of {arg_rest}", _AGGREGATED),
                Template("{arg_before} {property} of {arg_rest}", every_phrase=True),
            ),
            word_arguments=("arg",),
            required={"arg": 1},
            references_hide_words=True,
            single=("arg",),
        ),
        Operator.GROUP: OperatorSignature(
            ("key", "value"),
            _AGGREGATES,
            "the number of #2 for each #1",
            "GROUP[count](key=#1, value=#2)",
            templates=(
                Template("{property} of {value} for each {key}", _AGGREGATED),
                Template("{property} of {value} for each {key}", every_phrase=True),
                # "the" stands for an argument of which only words without a meaning were there.
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
            "SUPERLATIVE[min](sub=#2, attribute=#3)",
            templates=(
                Template(
                    "{sub} where {attribute_reference} is {property} {attribute_others}",
                    {"max": "highest", "min": "lowest", None: ""},
                ),
            ),
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
            "COMPARATIVE[more](sub=#1, attribute=#2, condition=100)",
            templates=(
                Template("{sub} where {attribute} {property} {condition}", _COMPARED),
                Template("{sub} where {attribute} is {condition}"),
                Template("{sub} where {attribute} {property} {condition}", {"equals": "equals"}),
                Template("{sub} where {attribute} is {property} {condition}", {"more": "at least", "less": "at most"}),
                Template("{sub} where {attribute} is {condition_head} {property} {condition_tail}", every_phrase=True),
            ),
            word_arguments=("condition",),
            required={"sub": 1, "attribute": 1},
            single=("sub", "attribute"),
            narrows=True,
        ),
        Operator.COMPARISON: OperatorSignature(
            ("arg",),
            (*_AGGREGATES, "true", "false"),
            "which is higher of #1, #2",
            "COMPARISON[max](arg=#1, arg=#2)",
            templates=(Template("which is {property} of {arg}", {**_AGGREGATED, "true": "true", "false": "false"}),),
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
            templates=(Template("{sub}"),),
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
            templates=(Template("{projection} in both {intersect}", separator=" and "),),
            word_arguments=("projection",),
            required={"intersect": 2},
            listed=("intersect",),
            narrows=True,
        ),
        Operator.DISCARD: OperatorSignature(
            ("sub", "exclude"),
            (),
            "#1 besides #2",
            "DISCARD[](sub=#1, exclude=#2)",
            templates=(
                Template("{sub} besides {exclude}"),
                Template("{sub} not {exclude}"),
            ),
            word_arguments=("exclude", "sub"),
            required={"sub": 1, "exclude": 1},
            single=("sub", "exclude"),
            narrows=True,
        ),
        Operator.SORT: OperatorSignature(
            ("sub", "order"),
            (),
            "#1 ordered by name",
            "SORT[](sub=#1, order=name)",
            templates=(Template("{sub} sorted by {order}"),),
            word_arguments=("order", "sub"),
            required={"sub": 1, "order": 1},
            narrows=True,
        ),
        Operator.BOOLEAN: OperatorSignature(
            ("sub", "condition"),
            (*_EQUALS, *_MORE, *_LESS, *_LOGICAL, "if-exists"),
            "if #1 is the same as #2",
            "BOOLEAN[equals](sub=#1, condition=#2)",
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
            word_arguments=("condition",),
            required={"sub": 1},
            listed=("sub",),
        ),
        Operator.ARITHMETIC: OperatorSignature(
            ("arg", "left", "right"),
            ("sum", "diff", "multiply", "div"),
            "the difference of #3 and #4",
            "ARITHMETIC[diff](left=#3, right=#4)",
            templates=(
                Template("{property} of {left} and {right}", _DIFFERENCE),
                Template("{property} of {arg}", _SUM, " and "),
                Template("{property} of {arg}", {**_DIFFERENCE, None: ""}, " and "),
                # An argument expresses the property, in addition to that of the step.
                Template("{property} of {arg}", {"diff": "sum", "div": "sum", "multiply": "sum"}, " and "),
                # "the" stands for an argument of which only words without a meaning were there.
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
)
"""The row of each operator."""

ARGUMENT_NAMES: frozenset[str] = frozenset(name for signature in OPERATORS.values() for name in signature.arguments)
"""The names of the arguments of all operators."""


def row_of(table: dict[Operator, RowFunction], *operators: Operator) -> Callable[[RowFunction], RowFunction]:
    """Enter the decorated function into a table of what operators do, as the row of these operators.

    >>> said: dict[Operator, Callable[[], str]] = {}
    >>> @row_of(said, Operator.UNION)
    ... def _join() -> str:
    ...     return "join"
    >>> said[Operator.UNION]()
    'join'
    """

    def enter(function: RowFunction) -> RowFunction:
        table.update(dict.fromkeys(operators, function))
        return function

    return enter
