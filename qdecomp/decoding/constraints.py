"""What makes a graph valid, as a table: :data:`CONSTRAINTS`.

A row states its constraint in terms of a small :class:`Logic`. There are two of these: one looks at an existing graph
and finds what is wrong with it (:mod:`~qdecomp.decoding.validity`), the other writes a program whose solutions are the
valid graphs (:mod:`~qdecomp.decoding.graph_program`). So both always agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cache
from typing import Any, Protocol

from qdecomp.data_structures.edge_tags import DUPLICATE, SPAN, STRUCTURAL_TAGS, UNUSED, EdgeTag, parse_tag, split_tags
from qdecomp.data_structures.errors import GraphError
from qdecomp.data_structures.lexicon import anchor_words
from qdecomp.data_structures.limits import cache_short
from qdecomp.data_structures.operators import OPERATORS, Operator
from qdecomp.data_structures.special_tokens import DUMMY, DUPLICATE_TOKEN, SEPARATOR, question_length, words_end


class TokenKind(IntEnum):
    """What a token may stand for in a graph."""

    WORD = 0
    SEPARATOR = 1
    DUPLICATE = 2
    DUMMY = 3


_KINDS = {SEPARATOR: TokenKind.SEPARATOR, DUPLICATE_TOKEN: TokenKind.DUPLICATE, DUMMY: TokenKind.DUMMY}


@dataclass(frozen=True, slots=True)
class EdgeChoice:
    """One label for one pair of tokens; ``gain`` says how much better it is than no edge (in nats)."""

    head: int
    dependent: int
    label: str
    gain: float = field(default=0.0, compare=False)


def token_kinds(tokens: Sequence[str]) -> tuple[TokenKind, ...]:
    """The kind of each token; after the question, it is the special token's own."""
    length, end = question_length(tokens), words_end(tokens)
    return tuple(
        _KINDS[token] if position == length or position >= end else TokenKind.WORD
        for position, token in enumerate(tokens)
    )


@cache_short(entries=4096, longest=300)
def read_label(label: str) -> tuple[EdgeTag | str, ...]:
    """The tags that a label stands for (the structural ones as text), none if it is not a label of edges.

    >>> read_label("duplicate&filter-sub")
    ('duplicate', EdgeTag(operator=<Operator.FILTER: 'filter'>, argument='sub', properties=()))
    """
    try:
        return tuple(tag if tag in STRUCTURAL_TAGS else parse_tag(tag) for tag in split_tags(label))
    except GraphError:
        return ()


def is_possible(head: TokenKind, dependent: TokenKind, rightwards: bool, label: str) -> bool:
    """Whether an edge between two different tokens of these kinds may have the label.

    >>> is_possible(TokenKind.WORD, TokenKind.WORD, False, "span")
    False
    """
    tags = read_label(label)
    if not tags or TokenKind.SEPARATOR in (head, dependent) or (SPAN in tags and (len(tags) > 1 or not rightwards)):
        return False
    return DUPLICATE not in tags or (head is TokenKind.DUPLICATE and dependent is TokenKind.WORD)


Literal = Any
"""Something that is true or false: a variable, a fact, or the constants True and False."""


class Logic(Protocol):
    """How constraints are stated."""

    def any_of(self, literals: Sequence[Literal]) -> Literal:
        """True only if one of them is."""

    def both(self, first: Literal, second: Literal) -> Literal:
        """True only if both are."""

    def unless(self, reasons: Sequence[Literal], blockers: Sequence[Literal]) -> Literal:
        """True exactly if there is a reason and no blocker."""

    def require(self, condition: Literal, alternatives: Sequence[Literal]) -> None:
        """If the condition is true, so is one of the alternatives."""

    def at_most_one_group(self, groups: Sequence[Sequence[Literal]]) -> None:
        """At most one of the groups has true members."""

    def no_cycle(self, arcs: Sequence[Arc]) -> None:
        """The arcs that are true form no cycle."""


REFERENCE = "reference"
"""The kind of all arcs whose tag names an operator's argument; the kind of a structural tag is the tag."""


@dataclass(frozen=True, slots=True)
class Arc:
    """One tag between two tokens, which is there if ``literal`` is true."""

    head: int
    dependent: int
    tag: Any
    """An :class:`EdgeTag`, or a structural tag as text."""
    literal: Literal


class Arcs:
    """All possible arcs, by their kinds and ends."""

    def __init__(self, tokens: Sequence[str], choices: Iterable[tuple[EdgeChoice, Literal]]) -> None:
        self.tokens = tuple(tokens)
        self.kinds = token_kinds(tokens)
        self.choices = tuple(choices)
        self.positions = sorted({place for choice, _ in self.choices for place in (choice.head, choice.dependent)})
        self.references: list[Arc] = []
        self._leaving: dict[tuple[str, int], list[Arc]] = {}
        self._entering: dict[tuple[str, int], list[Arc]] = {}
        for choice, literal in self.choices:
            for tag in read_label(choice.label):
                arc = Arc(choice.head, choice.dependent, tag, literal)
                kind = REFERENCE if isinstance(tag, EdgeTag) else tag
                self._leaving.setdefault((kind, arc.head), []).append(arc)
                self._entering.setdefault((kind, arc.dependent), []).append(arc)
                if kind is REFERENCE:
                    self.references.append(arc)

    def leaving(self, position: int, *kinds: str) -> list[Arc]:
        """The arcs of these kinds from a token."""
        return [arc for kind in kinds for arc in self._leaving.get((kind, position), ())]

    def entering(self, position: int, *kinds: str) -> list[Arc]:
        """The arcs of these kinds to a token."""
        return [arc for kind in kinds for arc in self._entering.get((kind, position), ())]

    def steps(self) -> Iterator[tuple[int, Operator, Sequence[Arc]]]:
        """Every token that may refer to steps, with each operator that it may have and the references that say so."""
        for (kind, position), arcs in self._leaving.items():
            by_operator: dict[Operator, list[Arc]] = {}
            for arc in arcs if kind == REFERENCE else ():
                by_operator.setdefault(arc.tag.operator, []).append(arc)
            for operator, members in by_operator.items():
                yield position, operator, members


def _literals(arcs: Iterable[Arc]) -> list[Literal]:
    return [arc.literal for arc in arcs]


def _possible_edges(arcs: Arcs, logic: Logic) -> None:
    """Span edges go to the right, duplicate edges from a [DUP] to a word, no edge to itself or at the separator."""
    for choice, literal in arcs.choices:
        head, dependent = choice.head, choice.dependent
        possible = head != dependent and is_possible(
            arcs.kinds[head], arcs.kinds[dependent], head < dependent, choice.label
        )
        logic.require(literal, [possible])


def _one_label_a_pair(arcs: Arcs, logic: Logic) -> None:
    """A pair of tokens has one label at most."""
    pairs: dict[tuple[int, int], list[Literal]] = {}
    for choice, literal in arcs.choices:
        pairs.setdefault((choice.head, choice.dependent), []).append(literal)
    for literals in pairs.values():
        logic.at_most_one_group([[literal] for literal in literals])


def _span_chains(arcs: Arcs, logic: Logic) -> None:
    """A token has one span edge at most on each side."""
    for position in arcs.positions:
        for spans in (arcs.leaving(position, SPAN), arcs.entering(position, SPAN)):
            logic.at_most_one_group([[span.literal] for span in spans])


def _last_token_of_a_step(arcs: Arcs, logic: Logic) -> None:
    """References leave and enter a step at its last token."""
    for position in arcs.positions:
        links = [*_literals(arcs.leaving(position, REFERENCE, UNUSED)), *_referring(arcs, position)]
        logic.at_most_one_group([_literals(arcs.leaving(position, SPAN)), links])


def _one_operator(arcs: Arcs, logic: Logic) -> None:
    """All references of a step name one operator and one set of properties."""
    for position in arcs.positions:
        signatures: dict[tuple[Operator, tuple[str, ...]], list[Literal]] = {}
        for arc in arcs.leaving(position, REFERENCE):
            signatures.setdefault((arc.tag.operator, arc.tag.properties), []).append(arc.literal)
        logic.at_most_one_group(list(signatures.values()))


def _single_arguments(arcs: Arcs, logic: Logic) -> None:
    """Some arguments are one reference at most."""
    for _, operator, references in arcs.steps():
        for name in OPERATORS[operator].single:
            logic.at_most_one_group([[arc.literal] for arc in references if arc.tag.argument == name])


def _complete_arguments(arcs: Arcs, logic: Logic) -> None:
    """Arguments that an operator needs are there."""
    words = _words(arcs, logic)
    for position, operator, references in arcs.steps():
        for name, count in OPERATORS[operator].required.items():
            found = [arc for arc in references if arc.tag.argument == name]
            for arc in references:
                others = [other.literal for other in found if other is not arc]
                if arc.tag.argument != name:
                    can_be_words = count == 1 and name in OPERATORS[operator].word_arguments
                    logic.require(arc.literal, [*others, *([words(position, arc.tag)] if can_be_words else ())])
                elif count > 1:
                    logic.require(arc.literal, others)
        if OPERATORS[operator].operands:
            for arc in references:
                others = [other.literal for other in references if other is not arc]
                logic.require(arc.literal, [*others, words(position, arc.tag)])


def _copies(arcs: Arcs, logic: Logic) -> None:
    """A [DUP] with any edge has a duplicate edge."""
    copying = {
        position: _literals(arcs.leaving(position, DUPLICATE))
        for position in arcs.positions
        if arcs.kinds[position] is TokenKind.DUPLICATE
    }
    for choice, literal in arcs.choices:
        for position in {choice.head, choice.dependent} & copying.keys():
            logic.require(literal, copying[position])


def _words_of_a_selection(arcs: Arcs, logic: Logic) -> None:
    """A step without references has a word."""
    words = _words(arcs, logic)
    for position in arcs.positions:
        says = words(position, None)
        if says is not True:
            needed = [*_literals(arcs.leaving(position, SPAN, REFERENCE)), says]
            for reason in (*_reasons_of_a_step(arcs, position), *_referring(arcs, position)):
                logic.require(reason, needed)


def _one_root(arcs: Arcs, logic: Logic) -> None:
    """One step is referred to by none; only it says which are unused."""
    roots = {
        position: logic.unless(
            _reasons_of_a_step(arcs, position), [*_referring(arcs, position), *_literals(arcs.leaving(position, SPAN))]
        )
        for position in arcs.positions
    }
    logic.at_most_one_group([[root] for root in roots.values()])
    for position in arcs.positions:
        for unused in arcs.leaving(position, UNUSED):
            logic.require(unused.literal, [roots[position]])


def _reasons_of_a_step(arcs: Arcs, position: int) -> list[Literal]:
    """What makes a token part of a step, other than that the step is referred to or has a next token."""
    return _literals([*arcs.leaving(position, DUPLICATE, UNUSED, REFERENCE), *arcs.entering(position, SPAN)])


def _referring(arcs: Arcs, position: int) -> list[Literal]:
    return _literals(arcs.entering(position, REFERENCE, UNUSED))


def _unused_steps(arcs: Arcs, logic: Logic) -> None:
    """An unused step is one that no step refers to."""
    for position in arcs.positions:
        logic.at_most_one_group(
            [_literals(arcs.entering(position, UNUSED)), _literals(arcs.entering(position, REFERENCE))]
        )


def _no_cycle(arcs: Arcs, logic: Logic) -> None:
    """No step needs itself."""
    logic.no_cycle(arcs.references)


def _some_edge(arcs: Arcs, logic: Logic) -> None:
    """There is an edge."""
    logic.require(True, [literal for _, literal in arcs.choices])


def _words(arcs: Arcs, logic: Logic) -> Callable[[int, EdgeTag | None], Literal]:
    """Whether the step that ends at a position has words that can be an argument, looked for from there to the left.

    Words that only show the operator of a tag are not an argument; a selection has no tag.
    """

    def says(position: int, silent: frozenset[str]) -> bool:
        # Semicolons are left out of steps, because they end them.
        return arcs.tokens[position].lower() not in silent and bool(arcs.tokens[position].strip(";"))

    @cache
    def found(position: int, silent: frozenset[str]) -> Literal:
        if arcs.kinds[position] is TokenKind.WORD and says(position, silent):
            return True
        copied = [arc.literal for arc in arcs.leaving(position, DUPLICATE) if says(arc.dependent, silent)]
        before = [
            logic.both(span.literal, found(span.head, silent))
            for span in arcs.entering(position, SPAN)
            if span.head < position
        ]
        return logic.any_of([*copied, *before])

    return lambda position, tag: found(
        position, frozenset() if tag is None else anchor_words(tag.operator, tag.properties)
    )


CONSTRAINTS: Mapping[str, Callable[[Arcs, Logic], None]] = {
    "possible edges": _possible_edges,
    "one label": _one_label_a_pair,
    "span chains": _span_chains,
    "last token": _last_token_of_a_step,
    "one operator": _one_operator,
    "single arguments": _single_arguments,
    "complete arguments": _complete_arguments,
    "copies": _copies,
    "words": _words_of_a_selection,
    "unused steps": _unused_steps,
    "one root": _one_root,
    "no cycle": _no_cycle,
    "some edge": _some_edge,
}
"""The constraints by name; a function states its own in terms of a logic."""
