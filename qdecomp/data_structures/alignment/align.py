"""Token alignment: which tokens of the question (or resource words) express each step, found by an integer program.

This is the paper's appendix on token alignment: minimalism, step coverage, sequential preference and exact match are
the weights of the program's objective. What has only one candidate is decided at once. A choice that affects no other
choice takes the cheapest candidate. Only the rest goes to CP-SAT, which is loaded when it is first needed.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

from qdecomp.data_structures.alignment.candidates import AlignmentProblem, make_problem
from qdecomp.data_structures.errors import GraphError, Reason, missing_extra
from qdecomp.data_structures.limits import MOST_ALIGNMENT_CHOICES, above
from qdecomp.data_structures.logical_form import LogicalForm
from qdecomp.data_structures.operators import Operator

_STAGE = "alignment"
# What the solver may take for a whole question. The first limit is the same on every machine, so results are, too; the
# second guards against a stuck machine.
_DETERMINISTIC_SECONDS = 0.3
_WALL_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class CostWeights:
    """What the program pays (or, below zero, gains), from the strongest preference to the weakest.

    In a question of ordinary size, each is worth more than all that follow it could add up to.
    """

    token: int = 50_000_000_000  # minimalism: a token that a step uses for its content
    shared: int = 50_000_000_000  # minimalism: a token that one more step uses, which takes a copy of it in the graph
    anchor: int = -2_000_000_000  # step coverage: a step without content that a word of the question shows
    shows_property: int = -200_000_000  # step coverage: that word shows the step's property, and not only its operator
    sequence: int = -10_000_000  # sequential preference: neighbouring tokens in one step
    reference: int = -5_000_000  # sequential preference: neighbouring tokens in a step and one that it refers to
    exact: int = -100_000  # exact match: a token that is the step's word and not merely equivalent
    position: int = 30  # between equals, the token further left ...
    step: int = 1  # ... and for the earlier step; this makes the optimum unique in practice


WEIGHTS = CostWeights()

TokenChoice: TypeAlias = tuple[int, int]
"""A step and the position of a token."""
_Chosen: TypeAlias = defaultdict[int, set[int]]
"""For each position, the steps that have taken it."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """The token positions of each step, sorted."""

    steps: tuple[tuple[int, ...], ...]
    missing: tuple[tuple[int, str], ...] = ()  # the words, with their step from 0, that no token is equivalent to


def align(form: LogicalForm, tokens: Sequence[str]) -> Alignment:
    """Align the steps of a logical form with a question's tokens and the resource words after them.

    >>> from qdecomp.data_structures.logical_form import parse_logical_form
    >>> form = parse_logical_form(["SELECT[](sub=water buffalo)", "FILTER[](sub=#1, condition=in the river)"])
    >>> align(form, "Is the water in the river where the water buffalo are ?".split()).steps
    ((8, 9), (5,))
    """
    problem = make_problem(form, tokens)
    missing = tuple((number, word) for number, step in enumerate(problem.steps) for word in step.missing)
    steps: list[list[int]] = [[] for _ in problem.steps]
    for number, position in sorted(solve_alignment(problem)):
        steps[number].append(position)
    for number, step in enumerate(form.steps):
        if step.operator is Operator.SELECT and not steps[number]:
            words = ", ".join(problem.steps[number].missing)
            reason = Reason("it selects by words that the question does not have: {}", words)
            raise GraphError(_STAGE, reason, number + 1)
    return Alignment(tuple(map(tuple, steps)), missing)


def solve_alignment(problem: AlignmentProblem) -> frozenset[TokenChoice]:
    """The best choices, or good ones if the solver's time is over."""
    chosen: _Chosen = defaultdict(set)
    for number, step in enumerate(problem.steps):
        for need in step.needs:
            if len(need) == 1:
                chosen[need[0]].add(number)
    costs = _Costs(problem)
    seconds, ends = _DETERMINISTIC_SECONDS, time.monotonic() + _WALL_SECONDS
    for component in _components(list(_open_groups(problem, chosen)), costs):
        if len(component) == 1:
            _choose_cheapest(component[0], costs, chosen)
            continue
        choices = sum(len(group.options) for group in component)
        if reason := above(MOST_ALIGNMENT_CHOICES, choices, "ways to align words"):
            reason = Reason("{}; do the question or the steps repeat the same words many times?", reason)
            raise GraphError(_STAGE, reason)
        best: Collection[TokenChoice] = ()
        if seconds > 0 and (wall_seconds := ends - time.monotonic()) > 0:
            best, used = _solved(component, costs, chosen, seconds, wall_seconds)
            seconds -= used
        if not best:
            _choose_one_by_one(component, costs, chosen)
        for number, position in best:
            chosen[position].add(number)
    return frozenset((number, position) for position, numbers in chosen.items() for number in numbers)


def _choose_one_by_one(groups: Iterable[_ChoiceGroup], costs: _Costs, chosen: _Chosen) -> None:
    """Without a solver: each group takes its cheapest choice, given those before it; anchors take what is left."""
    for group in sorted(groups, key=lambda group: group.is_anchor):
        if group.is_anchor:
            free = tuple(position for position in group.options if not chosen[position])
            if free:
                _choose_cheapest(_ChoiceGroup(group.step, free, True), costs, chosen)
        elif not any(group.step in chosen[position] for position in group.options):
            _choose_cheapest(group, costs, chosen)


def _open_groups(problem: AlignmentProblem, chosen: _Chosen) -> Iterator[_ChoiceGroup]:
    """What is not yet decided: needs with several candidates, and anchors that are still free."""
    for step, candidates in enumerate(problem.steps):
        for need in candidates.needs:
            if not any(step in chosen[position] for position in need):
                yield _ChoiceGroup(step, need)
        free = tuple(position for position in candidates.anchors if not chosen[position])
        if free:
            yield _ChoiceGroup(step, free, is_anchor=True)


def _choose_cheapest(group: _ChoiceGroup, costs: _Costs, chosen: _Chosen) -> None:
    step, position = min(group.choices, key=lambda choice: costs.cost_given(choice, chosen, group.is_anchor))
    chosen[position].add(step)


def _components(groups: Sequence[_ChoiceGroup], costs: _Costs) -> list[list[_ChoiceGroup]]:
    """Groups that affect each other: by a common token, or by neighbours in the same or in related steps."""
    leader = list(range(len(groups)))

    def find(number: int) -> int:
        while leader[number] != number:
            leader[number] = number = leader[leader[number]]
        return number

    # One group stands for all at a position, and for all of a step there, since these belong together.
    at: dict[int, int] = {}
    of_step_at: dict[TokenChoice, int] = {}
    for number, group in enumerate(groups):
        for choice in group.choices:
            leader[find(at.setdefault(choice[1], number))] = find(number)
            of_step_at.setdefault(choice, number)
    for number, group in enumerate(groups):
        for position in group.options:
            for neighbour in costs.neighbours.get(position, ()):
                for step in costs.gains[group.step]:
                    other = of_step_at.get((step, neighbour))
                    if other is not None:
                        leader[find(other)] = find(number)
    found: dict[int, list[_ChoiceGroup]] = {}
    for number, group in enumerate(groups):
        found.setdefault(find(number), []).append(group)
    return list(found.values())


@dataclass(frozen=True, slots=True)
class _ChoiceGroup:
    """Positions of which a step takes at least one or, for an anchor, at most one."""

    step: int
    options: tuple[int, ...]
    is_anchor: bool = False

    @property
    def choices(self) -> tuple[TokenChoice, ...]:
        return tuple((self.step, position) for position in self.options)


class _Costs:
    """The objective of a problem, piece by piece."""

    def __init__(self, problem: AlignmentProblem) -> None:
        self.problem = problem
        self.neighbours: dict[int, list[int]] = {}
        for left, right in problem.neighbours:
            self.neighbours.setdefault(left, []).append(right)
            self.neighbours.setdefault(right, []).append(left)
        self.gains: list[dict[int, int]] = [{number: WEIGHTS.sequence} for number in range(len(problem.steps))]
        """For each step, what it gains by tokens next to its own of itself, and of those that one refers to."""
        for number, candidates in enumerate(problem.steps):
            for target in candidates.references:
                self.gains[number].setdefault(target, WEIGHTS.reference)
                self.gains[target].setdefault(number, WEIGHTS.reference)

    def cost_given(self, choice: TokenChoice, chosen: _Chosen, is_anchor: bool = False) -> int:
        """What a choice costs given those already chosen: on its own, by sharing and by its neighbours."""
        step, position = choice
        candidates = self.problem.steps[step]
        cost = WEIGHTS.anchor if is_anchor else WEIGHTS.token
        if is_anchor and position in candidates.shows_property:
            cost += WEIGHTS.shows_property
        if position in candidates.exact:
            cost += WEIGHTS.exact
        if chosen[position] - {step}:
            cost += WEIGHTS.shared
        for neighbour in self.neighbours.get(position, ()):
            cost += sum(self.gains[step].get(other, 0) for other in chosen[neighbour])
        return cost + WEIGHTS.position * position + WEIGHTS.step * step


def _solved(
    groups: Iterable[_ChoiceGroup], costs: _Costs, chosen: _Chosen, seconds: float, wall_seconds: float
) -> tuple[Collection[TokenChoice], float]:
    """The best choices of groups that affect each other, none if the time was too short, and the time that it took."""
    cp_model = solver_library()
    model = cp_model.CpModel()
    variables: dict[TokenChoice, Any] = {}
    anchors: set[TokenChoice] = set()
    at: dict[int, list[TokenChoice]] = {}
    terms: list[tuple[Any, int]] = []
    for group in groups:
        for choice in group.choices:
            if choice not in variables:
                variables[choice] = model.new_bool_var("")
                at.setdefault(choice[1], []).append(choice)
                if group.is_anchor:
                    anchors.add(choice)
                terms.append((variables[choice], costs.cost_given(choice, chosen, group.is_anchor)))
        options = [variables[choice] for choice in group.choices]
        (model.add_at_most_one if group.is_anchor else model.add_bool_or)(options)
    # No other step takes an anchor's token; any other token has a cost for each further step that takes it.
    for position, choices in at.items():
        for first, second in combinations(choices, 2):
            if first in anchors or second in anchors:
                model.add_bool_or([~variables[first], ~variables[second]])
        content = [variables[choice] for choice in choices if choice not in anchors]
        if len(content) > 1 and not chosen[position]:
            further = model.new_int_var(0, len(content) - 1, "")
            model.add(further >= sum(content) - 1)
            terms.append((further, WEIGHTS.shared))
    # Pairs of choices gain by being neighbours.
    for left, right in costs.problem.neighbours:
        for first in at.get(left, ()):
            for step, gain in sorted(costs.gains[first[0]].items()):
                if (step, right) in variables:
                    both = model.new_bool_var("")
                    model.add_implication(both, variables[first])
                    model.add_implication(both, variables[step, right])
                    terms.append((both, gain))
    model.minimize(cp_model.LinearExpr.weighted_sum(*map(list, zip(*terms, strict=True))))
    solver = new_solver(seconds, wall_seconds)
    # Looking for symmetries costs more than it gains.
    solver.parameters.symmetry_level = 0
    found = solver.solve(model) in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    best = [choice for choice, variable in variables.items() if found and solver.boolean_value(variable)]
    return best, solver.response_proto.deterministic_time


def new_solver(deterministic_seconds: float, wall_seconds: float) -> Any:
    """A solver with one thread and a clock of its own, so that two runs give the same.

    The problems here are small: linear relaxations prove their optima soonest.
    """
    solver = solver_library().CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 0
    solver.parameters.linearization_level = 2
    solver.parameters.max_deterministic_time = deterministic_seconds
    solver.parameters.max_time_in_seconds = wall_seconds
    return solver


def solver_library() -> Any:
    """CP-SAT, which an installation for scoring does not have; without it, an error that says what to install."""
    try:
        from ortools.sat.python import cp_model
    except ImportError:
        raise missing_extra("converting to a graph", "convert") from None
    return cp_model
