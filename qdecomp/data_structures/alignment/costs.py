"""What the alignment minimises: the weights, and what each choice of a token for a step costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass

from qdecomp.data_structures.alignment.candidate_tokens import AlignmentProblem

__all__ = ["WEIGHTS", "ChoiceGroup", "Chosen", "CostWeights", "Costs", "TokenChoice"]


@dataclass(frozen=True, slots=True)
class CostWeights:
    """What the program pays (or, below zero, gains), from the strongest preference to the weakest.

    In a question of ordinary size, each is worth more than all that follow it could add up to. So a weaker preference
    only decides between alignments that are equal by the stronger ones.
    """

    #: Minimalism: a token that a step uses for its content.
    token: int = 50_000_000_000
    #: Minimalism: a token that one more step uses, which takes a copy of it in the graph.
    shared: int = 50_000_000_000
    #: Step coverage: a step without content that a word of the question shows.
    anchor: int = -2_000_000_000
    #: Step coverage: that word shows the step's property, and not only its operator.
    shows_property: int = -200_000_000
    #: Sequential preference: neighbouring tokens in one step.
    sequence: int = -10_000_000
    #: Sequential preference: neighbouring tokens in a step and in a step that it refers to.
    reference: int = -5_000_000
    #: Exact match: a token that is the step's word and not merely equivalent.
    exact: int = -100_000
    #: Between equals, the token further left ...
    position: int = 30
    #: ... and for the earlier step; this makes the optimum unique in practice.
    step: int = 1


WEIGHTS = CostWeights()
"""The weights that alignments are found with."""

TokenChoice = tuple[int, int]
"""A step and the position of a token."""


@dataclass(frozen=True, slots=True)
class ChoiceGroup:
    """Positions of which a step takes at least one or, for an anchor, at most one."""

    step: int
    options: tuple[int, ...]
    is_anchor: bool = False

    @property
    def choices(self) -> tuple[TokenChoice, ...]:
        """The options as pairs of step and position."""
        return tuple((self.step, position) for position in self.options)


class Costs:
    """The objective of a problem, piece by piece."""

    def __init__(self, problem: AlignmentProblem, weights: CostWeights = WEIGHTS) -> None:
        self.problem = problem
        self.weights = weights
        self.neighbours: dict[int, list[int]] = {}
        for left, right in problem.neighbours:
            self.neighbours.setdefault(left, []).append(right)
            self.neighbours.setdefault(right, []).append(left)
        related: list[set[int]] = [{number} for number in range(len(problem.steps))]
        for number, candidates in enumerate(problem.steps):
            for target in candidates.references:
                related[number].add(target)
                related[target].add(number)
        self.relatives = tuple(tuple(sorted(steps)) for steps in related)
        """For each step, the steps that gain by tokens next to its own: itself, and those that one refers to."""
        self._related = tuple(related)

    def own_cost(self, choice: TokenChoice, is_anchor: bool = False) -> int:
        """What a choice costs on its own."""
        step, position = choice
        candidates = self.problem.steps[step]
        cost = self.weights.anchor if is_anchor else self.weights.token
        if is_anchor and position in candidates.shows_property:
            cost += self.weights.shows_property
        if position in candidates.exact:
            cost += self.weights.exact
        return cost + self.weights.position * position + self.weights.step * step

    def together(self, first: int, second: int) -> int:
        """What two steps gain by neighbouring tokens."""
        if first == second:
            return self.weights.sequence
        return self.weights.reference if second in self._related[first] else 0

    def cost_given(self, choice: TokenChoice, chosen: Chosen, is_anchor: bool = False) -> int:
        """What a choice costs given those already chosen: on its own, by sharing and by its neighbours."""
        step, position = choice
        cost = self.own_cost(choice, is_anchor)
        if chosen.steps_at(position) - {step}:
            cost += self.weights.shared
        for neighbour in self.neighbours.get(position, ()):
            cost += sum(self.together(step, other) for other in chosen.steps_at(neighbour))
        return cost


class Chosen:
    """The choices so far, by position."""

    def __init__(self, choices: Iterable[TokenChoice]) -> None:
        self._steps: dict[int, set[int]] = {}
        self.add(choices)

    def add(self, choices: Iterable[TokenChoice]) -> None:
        """Choose more."""
        for step, position in choices:
            self._steps.setdefault(position, set()).add(step)

    def steps_at(self, position: int) -> Set[int]:
        """The steps that have taken a position."""
        return self._steps.get(position, frozenset())

    def __iter__(self) -> Iterator[TokenChoice]:
        return ((step, position) for position, steps in self._steps.items() for step in steps)
