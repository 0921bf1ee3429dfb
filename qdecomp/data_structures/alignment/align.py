"""Token alignment: which question tokens (or resource words) each step says, as an integer program.

The program minimises what the named weights below cost. What has only one candidate is decided at once; a choice
that bears on no other choice is the cheapest candidate; only the rest goes to CP-SAT, which is loaded when first
needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

from ..errors import AlignmentError
from ..limits import MOST_ALIGNMENT_CHOICES, above
from ..logical_form import LogicalForm
from ..operators import Operator
from .problem import AlignmentProblem, make_problem

__all__ = ["WEIGHTS", "Alignment", "Choice", "Chosen", "Costs", "Group", "Weights", "align", "solve"]


@dataclass(frozen=True, slots=True)
class Weights:
    """What the program pays (or, below zero, gains), from the strongest preference to the weakest.

    Each is worth more than all that come behind it could add up to in a question of ordinary size, so that a weaker
    preference only decides between alignments that are equal by the stronger ones.
    """

    #: Minimalism: a token that a step uses for its content.
    token: int = 50_000_000_000
    #: Minimalism: a token that one more step uses, which takes a copy of it in the graph.
    shared: int = 50_000_000_000
    #: Step coverage: a step without content that a word of the question shows.
    anchor: int = -2_000_000_000
    #: Step coverage: that word shows the step's property, and not only its operator.
    telling: int = -200_000_000
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


WEIGHTS = Weights()

Choice = tuple[int, int]
"""A step and the position of a token."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """The token positions of each step, sorted.

    ``missing`` are the words, with their step from 0, that no token is equivalent to. ``optimal`` is False where
    the time limit ended the search; the alignment is then the best that was found.
    """

    steps: tuple[tuple[int, ...], ...]
    missing: tuple[tuple[int, str], ...] = ()
    optimal: bool = True


def align(form: LogicalForm, tokens: Sequence[str]) -> Alignment:
    """Align the steps of a logical form with a question's tokens and the resource words behind them.

    >>> from qdecomp.data_structures.logical_form import parse_logical_form
    >>> form = parse_logical_form(["SELECT[](sub=water buffalo)", "FILTER[](sub=#1, condition=in the river)"])
    >>> align(form, "Is the water in the river where the water buffalo are ?".split()).steps
    ((8, 9), (5,))
    """
    problem = make_problem(form, tokens)
    missing = tuple((number, word) for number, step in enumerate(problem.steps) for word in step.missing)
    chosen, optimal = solve(problem)
    steps: list[list[int]] = [[] for _ in problem.steps]
    for number, position in sorted(chosen):
        steps[number].append(position)
    for number, step in enumerate(form.steps):
        if step.operator is Operator.SELECT and not steps[number]:
            words = ", ".join(problem.steps[number].missing)
            raise AlignmentError(f"it selects by words that the question does not have: {words}", number + 1)
    return Alignment(tuple(map(tuple, steps)), missing, optimal)


@dataclass(frozen=True, slots=True)
class Group:
    """Positions of which a step takes at least one, or, for an anchor, at most one."""

    step: int
    options: tuple[int, ...]
    is_anchor: bool = False

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The options as pairs of step and position."""
        return tuple((self.step, position) for position in self.options)


class Costs:
    """The objective of a problem, piece by piece."""

    def __init__(self, problem: AlignmentProblem, weights: Weights = WEIGHTS) -> None:
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
        """For each step, the steps that gain by tokens beside its own: itself, and those that one refers to."""
        self._related = tuple(related)

    def alone(self, choice: Choice, is_anchor: bool = False) -> int:
        """What a choice costs by itself."""
        step, position = choice
        candidates = self.problem.steps[step]
        cost = self.weights.anchor if is_anchor else self.weights.token
        if is_anchor and position in candidates.telling:
            cost += self.weights.telling
        if position in candidates.exact:
            cost += self.weights.exact
        return cost + self.weights.position * position + self.weights.step * step

    def together(self, first: int, second: int) -> int:
        """What two steps gain by neighbouring tokens."""
        if first == second:
            return self.weights.sequence
        return self.weights.reference if second in self._related[first] else 0

    def beside(self, choice: Choice, chosen: Chosen, is_anchor: bool = False) -> int:
        """What a choice costs when those that are chosen stand: by itself, by sharing and by its neighbours."""
        step, position = choice
        cost = self.alone(choice, is_anchor)
        if chosen.steps_at(position) - {step}:
            cost += self.weights.shared
        for neighbour in self.neighbours.get(position, ()):
            cost += sum(self.together(step, other) for other in chosen.steps_at(neighbour))
        return cost


class Chosen:
    """The choices so far, by position."""

    def __init__(self, choices: Iterable[Choice]) -> None:
        self._steps: dict[int, set[int]] = {}
        self.add(choices)

    def add(self, choices: Iterable[Choice]) -> None:
        """Choose more."""
        for step, position in choices:
            self._steps.setdefault(position, set()).add(step)

    def steps_at(self, position: int) -> Set[int]:
        """The steps that have taken a position."""
        return self._steps.get(position, frozenset())

    def __iter__(self) -> Iterator[Choice]:
        return ((step, position) for position, steps in self._steps.items() for step in steps)


def solve(problem: AlignmentProblem, weights: Weights = WEIGHTS) -> tuple[frozenset[Choice], bool]:
    """The best choices, and whether they are proven to be the best."""
    chosen = Chosen((k, need[0]) for k, step in enumerate(problem.steps) for need in step.needs if len(need) == 1)
    costs = Costs(problem, weights)
    optimal = True
    for component in _components(list(_open_groups(problem, chosen)), costs):
        if len(component) == 1:
            chosen.add([_cheapest(component[0], costs, chosen)])
            continue
        from .program import solve_component

        choices = sum(len(group.options) for group in component)
        if reason := above(MOST_ALIGNMENT_CHOICES, choices, "ways to align words"):
            raise AlignmentError(f"{reason}; are the same words in the question or in the steps again and again?")
        best, proven = solve_component(component, costs, chosen)
        chosen.add(best)
        optimal = optimal and proven
    return frozenset(chosen), optimal


def _open_groups(problem: AlignmentProblem, chosen: Chosen) -> Iterator[Group]:
    """What is not decided yet: needs with several candidates, and anchors that are still free."""
    for step, candidates in enumerate(problem.steps):
        for need in candidates.needs:
            if not any(step in chosen.steps_at(position) for position in need):
                yield Group(step, need)
        free = tuple(position for position in candidates.anchors if not chosen.steps_at(position))
        if free:
            yield Group(step, free, is_anchor=True)


def _cheapest(group: Group, costs: Costs, chosen: Chosen) -> Choice:
    return min(group.choices, key=lambda choice: costs.beside(choice, chosen, group.is_anchor))


def _components(groups: Sequence[Group], costs: Costs) -> list[list[Group]]:
    """Groups that bear on each other: by a common token, or by neighbours in the same or in related steps."""
    leader = list(range(len(groups)))

    def find(number: int) -> int:
        while leader[number] != number:
            leader[number] = number = leader[leader[number]]
        return number

    # One group stands for all at a position, and for all of a step there, since these belong together.
    at: dict[int, int] = {}
    of_step_at: dict[Choice, int] = {}
    for number, group in enumerate(groups):
        for choice in group.choices:
            leader[find(at.setdefault(choice[1], number))] = find(number)
            of_step_at.setdefault(choice, number)
    for number, group in enumerate(groups):
        for position in group.options:
            for neighbour in costs.neighbours.get(position, ()):
                for step in costs.relatives[group.step]:
                    other = of_step_at.get((step, neighbour))
                    if other is not None:
                        leader[find(other)] = find(number)
    found: dict[int, list[Group]] = {}
    for number, group in enumerate(groups):
        found.setdefault(find(number), []).append(group)
    return list(found.values())
