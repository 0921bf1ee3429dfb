"""What makes a graph valid, as a table: :data:`CONSTRAINTS`.

A row states its constraint in terms of a small :class:`Logic`. There are two of these: one looks at an existing graph
and finds what is wrong with it (:mod:`~qdecomp.decoding.validity`), the other writes a program whose solutions are the
valid graphs (:mod:`~qdecomp.decoding.graph_program`). So both always agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from qdecomp.data_structures.edge_tags import DUPLICATE, SPAN, UNUSED, EdgeTag
from qdecomp.data_structures.lexicon import anchor_words
from qdecomp.data_structures.operators import OPERATORS, Operator
from qdecomp.decoding.choices import EdgeChoice, TokenKind, is_possible, read_label, token_kinds

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


@dataclass(frozen=True, slots=True)
class Arc:
    """One tag between two tokens, which is there if ``literal`` is true."""

    head: int
    dependent: int
    literal: Literal


@dataclass(frozen=True, slots=True)
class ArgumentArc(Arc):
    """A tag that names an operator's argument."""

    tag: EdgeTag


class Arcs:
    """All possible arcs, by their tags and ends."""

    def __init__(self, tokens: Sequence[str], choices: Iterable[tuple[EdgeChoice, Literal]]) -> None:
        self.tokens = tuple(tokens)
        self.kinds = token_kinds(tokens)
        self.choices = tuple(choices)
        self.positions = sorted({place for choice, _ in self.choices for place in (choice.head, choice.dependent)})
        self.references: list[ArgumentArc] = []
        self._references_from: dict[int, list[ArgumentArc]] = {}
        self._references_to: dict[int, list[ArgumentArc]] = {}
        self._others_from: dict[tuple[str, int], list[Arc]] = {}
        self._others_to: dict[tuple[str, int], list[Arc]] = {}
        for choice, literal in self.choices:
            for tag in read_label(choice.label) or ():
                self._add(choice.head, choice.dependent, tag, literal)

    def _add(self, head: int, dependent: int, tag: EdgeTag | str, literal: Literal) -> None:
        if isinstance(tag, EdgeTag):
            reference = ArgumentArc(head, dependent, literal, tag)
            self.references.append(reference)
            self._references_from.setdefault(head, []).append(reference)
            self._references_to.setdefault(dependent, []).append(reference)
        else:
            arc = Arc(head, dependent, literal)
            self._others_from.setdefault((tag, head), []).append(arc)
            self._others_to.setdefault((tag, dependent), []).append(arc)

    def references_from(self, position: int) -> Sequence[ArgumentArc]:
        """The references of a token."""
        return self._references_from.get(position, ())

    def references_to(self, position: int) -> Sequence[ArgumentArc]:
        """The references to a token."""
        return self._references_to.get(position, ())

    def leaving(self, position: int, tag: str) -> Sequence[Arc]:
        """The arcs with a structural tag from a token."""
        return self._others_from.get((tag, position), ())

    def entering(self, position: int, tag: str) -> Sequence[Arc]:
        """The arcs with a structural tag to a token."""
        return self._others_to.get((tag, position), ())

    def steps(self) -> Iterator[tuple[int, Operator, Sequence[ArgumentArc]]]:
        """Every token that may refer to steps, with each operator that it may have and the references that say so."""
        for position, references in self._references_from.items():
            by_operator: dict[Operator, list[ArgumentArc]] = {}
            for reference in references:
                by_operator.setdefault(reference.tag.operator, []).append(reference)
            for operator, members in by_operator.items():
                yield position, operator, members


def _literals(arcs: Iterable[Arc]) -> list[Literal]:
    return [arc.literal for arc in arcs]


def _possible_edges(arcs: Arcs, logic: Logic) -> None:
    for choice, literal in arcs.choices:
        head, dependent = choice.head, choice.dependent
        possible = head != dependent and is_possible(
            arcs.kinds[head], arcs.kinds[dependent], head < dependent, choice.label
        )
        logic.require(literal, [possible])


def _one_label_a_pair(arcs: Arcs, logic: Logic) -> None:
    pairs: dict[tuple[int, int], list[Literal]] = {}
    for choice, literal in arcs.choices:
        pairs.setdefault((choice.head, choice.dependent), []).append(literal)
    for literals in pairs.values():
        logic.at_most_one_group([[literal] for literal in literals])


def _span_chains(arcs: Arcs, logic: Logic) -> None:
    for position in arcs.positions:
        for spans in (arcs.leaving(position, SPAN), arcs.entering(position, SPAN)):
            logic.at_most_one_group([[span.literal] for span in spans])


def _last_token_of_a_step(arcs: Arcs, logic: Logic) -> None:
    for position in arcs.positions:
        links = (*arcs.references_from(position), *arcs.leaving(position, UNUSED))
        logic.at_most_one_group(
            [_literals(arcs.leaving(position, SPAN)), [*_literals(links), *_referring(arcs, position)]]
        )


def _one_operator(arcs: Arcs, logic: Logic) -> None:
    for position in arcs.positions:
        signatures: dict[tuple[Operator, tuple[str, ...]], list[Literal]] = {}
        for arc in arcs.references_from(position):
            signatures.setdefault((arc.tag.operator, arc.tag.properties), []).append(arc.literal)
        logic.at_most_one_group(list(signatures.values()))


def _single_arguments(arcs: Arcs, logic: Logic) -> None:
    for _, operator, references in arcs.steps():
        for name in OPERATORS[operator].single:
            logic.at_most_one_group([[arc.literal] for arc in references if arc.tag.argument == name])


def _complete_arguments(arcs: Arcs, logic: Logic) -> None:
    words = _Words(arcs, logic)
    for position, operator, references in arcs.steps():
        for name, count in OPERATORS[operator].required.items():
            found = [arc for arc in references if arc.tag.argument == name]
            for arc in references:
                others = [other.literal for other in found if other is not arc]
                if arc.tag.argument != name:
                    can_be_words = count == 1 and name in OPERATORS[operator].word_arguments
                    logic.require(arc.literal, [*others, *([words.of(position, arc.tag)] if can_be_words else ())])
                elif count > 1:
                    logic.require(arc.literal, others)
        if OPERATORS[operator].operands:
            for arc in references:
                others = [other.literal for other in references if other is not arc]
                logic.require(arc.literal, [*others, words.of(position, arc.tag)])


def _copies(arcs: Arcs, logic: Logic) -> None:
    copying = {
        position: _literals(arcs.leaving(position, DUPLICATE))
        for position in arcs.positions
        if arcs.kinds[position] is TokenKind.DUPLICATE
    }
    for choice, literal in arcs.choices:
        for position in {choice.head, choice.dependent} & copying.keys():
            logic.require(literal, copying[position])


def _words_of_a_selection(arcs: Arcs, logic: Logic) -> None:
    words = _Words(arcs, logic)
    for position in arcs.positions:
        says = words.of(position, None)
        if says is not True:
            spans_and_references = _literals((*arcs.leaving(position, SPAN), *arcs.references_from(position)))
            for reason in (*_reasons_of_a_step(arcs, position), *_referring(arcs, position)):
                logic.require(reason, [*spans_and_references, says])


def _one_root(arcs: Arcs, logic: Logic) -> None:
    roots = {position: _root(arcs, logic, position) for position in arcs.positions}
    logic.at_most_one_group([[root] for root in roots.values()])
    for position in arcs.positions:
        for unused in arcs.leaving(position, UNUSED):
            logic.require(unused.literal, [roots[position]])


def _root(arcs: Arcs, logic: Logic, position: int) -> Literal:
    blockers = [*_referring(arcs, position), *_literals(arcs.leaving(position, SPAN))]
    return logic.unless(_reasons_of_a_step(arcs, position), blockers)


def _reasons_of_a_step(arcs: Arcs, position: int) -> list[Literal]:
    """What makes a token part of a step, other than that the step is referred to or has a next token."""
    leaving = (*arcs.leaving(position, DUPLICATE), *arcs.leaving(position, UNUSED), *arcs.references_from(position))
    return _literals((*leaving, *arcs.entering(position, SPAN)))


def _referring(arcs: Arcs, position: int) -> list[Literal]:
    return _literals((*arcs.references_to(position), *arcs.entering(position, UNUSED)))


def _unused_steps(arcs: Arcs, logic: Logic) -> None:
    for position in arcs.positions:
        logic.at_most_one_group([_literals(arcs.entering(position, UNUSED)), _literals(arcs.references_to(position))])


def _no_cycle(arcs: Arcs, logic: Logic) -> None:
    logic.no_cycle(arcs.references)


def _some_edge(arcs: Arcs, logic: Logic) -> None:
    logic.require(True, [literal for _, literal in arcs.choices])


class _Words:
    """Whether a step has words that can be an argument, looked for from its last token to the left.

    Words that only show the operator are not an argument, except in a selection (``tag`` is None).
    """

    def __init__(self, arcs: Arcs, logic: Logic) -> None:
        self._arcs = arcs
        self._logic = logic
        self._found: dict[tuple[int, frozenset[str]], Literal] = {}

    def of(self, position: int, tag: EdgeTag | None) -> Literal:
        return self._of(position, anchor_words(tag.operator, tag.properties) if tag is not None else frozenset())

    def _of(self, position: int, silent: frozenset[str]) -> Literal:
        if (position, silent) not in self._found:
            self._found[position, silent] = self._look(position, silent)
        return self._found[position, silent]

    def _look(self, position: int, silent: frozenset[str]) -> Literal:
        arcs, logic = self._arcs, self._logic
        if arcs.kinds[position] is TokenKind.WORD and self._says(position, silent):
            return True
        copied = [arc.literal for arc in arcs.leaving(position, DUPLICATE) if self._says(arc.dependent, silent)]
        before = [
            logic.both(span.literal, self._of(span.head, silent))
            for span in arcs.entering(position, SPAN)
            if span.head < position
        ]
        return logic.any_of([*copied, *before])

    def _says(self, position: int, silent: frozenset[str]) -> bool:
        # Semicolons are left out of steps, because they end them.
        return self._arcs.tokens[position].lower() not in silent and bool(self._arcs.tokens[position].strip(";"))


@dataclass(frozen=True, slots=True)
class Constraint:
    """A row: what must hold, in words and as a statement."""

    name: str
    meaning: str
    state: Callable[[Arcs, Logic], None]


CONSTRAINTS = (
    Constraint(
        "possible edges",
        "span edges go to the right, duplicate edges from a [DUP] to a word, no edge to itself or at the separator",
        _possible_edges,
    ),
    Constraint("one label", "a pair of tokens has one label at most", _one_label_a_pair),
    Constraint("span chains", "a token has one span edge at most on each side", _span_chains),
    Constraint("last token", "references leave and enter a step at its last token", _last_token_of_a_step),
    Constraint("one operator", "all references of a step name one operator and one set of properties", _one_operator),
    Constraint("single arguments", "some arguments are one reference at most", _single_arguments),
    Constraint("complete arguments", "arguments that an operator needs are there", _complete_arguments),
    Constraint("copies", "a [DUP] with any edge has a duplicate edge", _copies),
    Constraint("words", "a step without references has a word", _words_of_a_selection),
    Constraint("unused steps", "an unused step is one that no step refers to", _unused_steps),
    Constraint("one root", "one step is referred to by none; only it says which are unused", _one_root),
    Constraint("no cycle", "no step needs itself", _no_cycle),
    Constraint("some edge", "there is an edge", _some_edge),
)
