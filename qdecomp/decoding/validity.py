"""Which constraints a graph breaks, which of its edges break them, and the graph without these edges."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from graphlib import CycleError, TopologicalSorter

from qdecomp.data_structures.dependency_graph import DependencyGraph
from qdecomp.decoding.constraints import CONSTRAINTS, Arc, Arcs, EdgeChoice

_Fact = bool | tuple[EdgeChoice, ...]
"""True, false (the empty tuple, too), or true because of some choices."""


class _Facts:
    """The logic of an existing graph. Every statement that does not hold blames choices."""

    def __init__(self) -> None:
        self.holds = True
        self.blamed: set[EdgeChoice] = set()

    def any_of(self, literals: Sequence[_Fact]) -> _Fact:
        if True in literals:
            return True
        return tuple(choice for literal in literals if literal for choice in _choices(literal))

    def both(self, first: _Fact, second: _Fact) -> _Fact:
        return (*_choices(first), *_choices(second)) or True if first and second else False

    def unless(self, reasons: Sequence[_Fact], blockers: Sequence[_Fact]) -> _Fact:
        return False if any(blockers) else self.any_of(reasons)

    def require(self, condition: _Fact, alternatives: Sequence[_Fact]) -> None:
        if condition and not any(alternatives):
            self._blame(condition)

    def at_most_one_group(self, groups: Sequence[Sequence[_Fact]]) -> None:
        there = [fact for group in groups if (fact := self.any_of(group))]
        if len(there) > 1:
            # Exact, because sums of floats depend on their order, and sets have none.
            best = max(there, key=lambda fact: math.fsum(choice.gain for choice in set(_choices(fact))))
            for fact in there:
                if fact is not best:
                    self._blame(fact)

    def no_cycle(self, arcs: Sequence[Arc]) -> None:
        targets: dict[int, list[int]] = {}
        for arc in arcs:
            targets.setdefault(arc.head, []).append(arc.dependent)
        try:
            TopologicalSorter(targets).prepare()
        except CycleError as error:
            cycle = set(error.args[1])
            within = [arc.literal for arc in arcs if arc.head in cycle and arc.dependent in cycle]
            self._blame(min(within, key=lambda fact: min(choice.gain for choice in fact)))

    def _blame(self, fact: _Fact) -> None:
        self.holds = False
        self.blamed.update(_choices(fact))


def _choices(fact: _Fact) -> tuple[EdgeChoice, ...]:
    return fact if isinstance(fact, tuple) else ()


def broken_constraints(graph: DependencyGraph) -> tuple[str, ...]:
    """The names of the constraints that a graph breaks, in the order of the table.

    >>> from qdecomp.data_structures.dependency_graph import Edge
    >>> broken_constraints(DependencyGraph(("red", "cubes"), (Edge(1, 0, "span"),)))
    ('possible edges',)
    """
    arcs = _facts(graph.tokens, (EdgeChoice(*pair, label) for pair, label in graph.labels().items()))
    broken = []
    for name, state in CONSTRAINTS.items():
        logic = _Facts()
        state(arcs, logic)
        if not logic.holds:
            broken.append(name)
    return tuple(broken)


def is_valid(graph: DependencyGraph) -> bool:
    """Whether a graph breaks no constraint, so that it says a decomposition."""
    return not broken_constraints(graph)


def drop_broken_choices(tokens: Sequence[str], choices: Iterable[EdgeChoice]) -> tuple[EdgeChoice, ...]:
    """Remove what breaks constraints, the weakest first, until all hold; in the worst case, that is everything."""
    kept = tuple(choices)
    while kept:
        logic = _Facts()
        arcs = _facts(tokens, kept)
        for state in CONSTRAINTS.values():
            state(arcs, logic)
            if logic.blamed:
                break
        if not logic.blamed:
            break
        kept = tuple(choice for choice in kept if choice not in logic.blamed)
    return kept


def _facts(tokens: Sequence[str], choices: Iterable[EdgeChoice]) -> Arcs:
    return Arcs(tokens, [(choice, (choice,)) for choice in choices])
