"""Token alignment: which tokens of the question (or resource words) express each step, found by an integer program.

This is the paper's appendix on token alignment: minimalism, step coverage, sequential preference and exact match are
the weights of the program's objective. What has only one candidate is decided at once. A choice that affects no other
choice takes the cheapest candidate. Only the rest goes to CP-SAT, which is loaded when it is first needed.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from qdecomp.data_structures.alignment.candidates import AlignmentProblem, make_problem
from qdecomp.data_structures.errors import AlignmentError, Reason, missing_extra
from qdecomp.data_structures.limits import MOST_ALIGNMENT_CHOICES, above
from qdecomp.data_structures.logical_form import LogicalForm
from qdecomp.data_structures.operators import Operator

if TYPE_CHECKING:
    from ortools.sat.python import cp_model


# What the solver may take for a whole question. The first limit is the same on every machine, so results are, too; the
# second guards against a stuck machine.
_DETERMINISTIC_SECONDS = 0.3
_WALL_SECONDS = 10.0


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
class Alignment:
    """The token positions of each step, sorted.

    ``missing`` are the words, with their step from 0, that no token is equivalent to. ``optimal`` is False if the time
    limit ended the search; the alignment is then the best that was found.
    """

    steps: tuple[tuple[int, ...], ...]
    missing: tuple[tuple[int, str], ...] = ()
    optimal: bool = True


def align(form: LogicalForm, tokens: Sequence[str]) -> Alignment:
    """Align the steps of a logical form with a question's tokens and the resource words after them.

    >>> from qdecomp.data_structures.logical_form import parse_logical_form
    >>> form = parse_logical_form(["SELECT[](sub=water buffalo)", "FILTER[](sub=#1, condition=in the river)"])
    >>> align(form, "Is the water in the river where the water buffalo are ?".split()).steps
    ((8, 9), (5,))
    """
    problem = make_problem(form, tokens)
    missing = tuple((number, word) for number, step in enumerate(problem.steps) for word in step.missing)
    chosen, optimal = solve_alignment(problem)
    steps: list[list[int]] = [[] for _ in problem.steps]
    for number, position in sorted(chosen):
        steps[number].append(position)
    for number, step in enumerate(form.steps):
        if step.operator is Operator.SELECT and not steps[number]:
            words = ", ".join(problem.steps[number].missing)
            raise AlignmentError(Reason("it selects by words that the question does not have: {}", words), number + 1)
    return Alignment(tuple(map(tuple, steps)), missing, optimal)


def solve_alignment(problem: AlignmentProblem, weights: CostWeights = WEIGHTS) -> tuple[frozenset[TokenChoice], bool]:
    """The best choices, and whether they are proved to be the best."""
    chosen = _Chosen((k, need[0]) for k, step in enumerate(problem.steps) for need in step.needs if len(need) == 1)
    costs = _Costs(problem, weights)
    budget = _Budget()
    optimal = True
    for component in _components(list(_open_groups(problem, chosen)), costs):
        if len(component) == 1:
            chosen.add([_cheapest(component[0], costs, chosen)])
            continue
        choices = sum(len(group.options) for group in component)
        if reason := above(MOST_ALIGNMENT_CHOICES, choices, "ways to align words"):
            raise AlignmentError(Reason("{}; do the question or the steps repeat the same words many times?", reason))
        if budget.is_spent:
            _choose_one_by_one(component, costs, chosen)
            optimal = False
            continue
        best, proven = _Program(component, costs, chosen).solve(budget)
        optimal = optimal and proven
        if best:
            chosen.add(best)
        else:
            _choose_one_by_one(component, costs, chosen)
    return frozenset(chosen), optimal


class _Budget:
    """What is left of the solver's time for a question."""

    def __init__(self) -> None:
        self.deterministic_seconds = _DETERMINISTIC_SECONDS
        self._ends = time.monotonic() + _WALL_SECONDS

    @property
    def wall_seconds(self) -> float:
        return self._ends - time.monotonic()

    @property
    def is_spent(self) -> bool:
        return self.deterministic_seconds <= 0 or self.wall_seconds <= 0


def _choose_one_by_one(groups: Iterable[_ChoiceGroup], costs: _Costs, chosen: _Chosen) -> None:
    """Without a solver: each group takes its cheapest choice, given those before it; anchors take what is left."""
    for group in sorted(groups, key=lambda group: group.is_anchor):
        if group.is_anchor:
            free = tuple(position for position in group.options if not chosen.steps_at(position))
            if free:
                chosen.add([_cheapest(_ChoiceGroup(group.step, free, True), costs, chosen)])
        elif not any(group.step in chosen.steps_at(position) for position in group.options):
            chosen.add([_cheapest(group, costs, chosen)])


def _open_groups(problem: AlignmentProblem, chosen: _Chosen) -> Iterator[_ChoiceGroup]:
    """What is not yet decided: needs with several candidates, and anchors that are still free."""
    for step, candidates in enumerate(problem.steps):
        for need in candidates.needs:
            if not any(step in chosen.steps_at(position) for position in need):
                yield _ChoiceGroup(step, need)
        free = tuple(position for position in candidates.anchors if not chosen.steps_at(position))
        if free:
            yield _ChoiceGroup(step, free, is_anchor=True)


def _cheapest(group: _ChoiceGroup, costs: _Costs, chosen: _Chosen) -> TokenChoice:
    return min(group.choices, key=lambda choice: costs.cost_given(choice, chosen, group.is_anchor))


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
                for step in costs.relatives[group.step]:
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
        """The options as pairs of step and position."""
        return tuple((self.step, position) for position in self.options)


class _Costs:
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

    def cost_given(self, choice: TokenChoice, chosen: _Chosen, is_anchor: bool = False) -> int:
        """What a choice costs given those already chosen: on its own, by sharing and by its neighbours."""
        step, position = choice
        cost = self.own_cost(choice, is_anchor)
        if chosen.steps_at(position) - {step}:
            cost += self.weights.shared
        for neighbour in self.neighbours.get(position, ()):
            cost += sum(self.together(step, other) for other in chosen.steps_at(neighbour))
        return cost


class _Chosen:
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


class _Program:
    """The choices of groups that affect each other, as a CP-SAT model with a variable for each choice."""

    def __init__(self, groups: Iterable[_ChoiceGroup], costs: _Costs, chosen: _Chosen) -> None:
        self.costs = costs
        self.chosen = chosen
        self.solver_library = solver_library()
        self.model = self.solver_library.CpModel()
        self.variables: dict[TokenChoice, cp_model.IntVar] = {}
        self.anchors: set[TokenChoice] = set()
        self.at: dict[int, list[TokenChoice]] = {}
        self.terms: list[cp_model.IntVar] = []
        self.coefficients: list[int] = []
        for group in groups:
            self._add_group(group)
        self._add_sharing()
        self._add_neighbours()

    def _add_group(self, group: _ChoiceGroup) -> None:
        """One of the options must be taken, or, for an anchor, may be."""
        for choice in group.choices:
            if choice not in self.variables:
                self._add_choice(choice, group.is_anchor)
        variables = [self.variables[choice] for choice in group.choices]
        if group.is_anchor:
            self.model.add_at_most_one(variables)
        else:
            self.model.add_bool_or(variables)

    def _add_choice(self, choice: TokenChoice, is_anchor: bool) -> None:
        variable = self.model.new_bool_var("")
        self.variables[choice] = variable
        self.at.setdefault(choice[1], []).append(choice)
        if is_anchor:
            self.anchors.add(choice)
        self._pay(variable, self.costs.cost_given(choice, self.chosen, is_anchor))

    def _add_sharing(self) -> None:
        """No other step takes an anchor's token; any other token has a cost for each further step that takes it."""
        for position, choices in self.at.items():
            for first, second in combinations(choices, 2):
                if first in self.anchors or second in self.anchors:
                    self.model.add_bool_or([~self.variables[first], ~self.variables[second]])
            content = [self.variables[choice] for choice in choices if choice not in self.anchors]
            if len(content) > 1 and not self.chosen.steps_at(position):
                further = self.model.new_int_var(0, len(content) - 1, "")
                self.model.add(further >= sum(content) - 1)
                self._pay(further, self.costs.weights.shared)

    def _add_neighbours(self) -> None:
        """Pairs of choices that gain by being neighbours."""
        for left, right in self.costs.problem.neighbours:
            for first in self.at.get(left, ()):
                for step in self.costs.relatives[first[0]]:
                    second = self.variables.get((step, right))
                    if second is not None:
                        both = self.model.new_bool_var("")
                        self.model.add_implication(both, self.variables[first])
                        self.model.add_implication(both, second)
                        self._pay(both, self.costs.together(first[0], step))

    def _pay(self, variable: cp_model.IntVar, cost: int) -> None:
        self.terms.append(variable)
        self.coefficients.append(cost)

    def solve(self, budget: _Budget) -> tuple[frozenset[TokenChoice], bool]:
        """The best choices, none if the budget was too small, and whether they are proved to be the best.

        The solver has one thread, so that two runs give the same.
        """
        cp_model = self.solver_library
        self.model.minimize(cp_model.LinearExpr.weighted_sum(self.terms, self.coefficients))
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = 0
        # Linear relaxations settle these problems at once; looking for symmetries costs more than it gains.
        solver.parameters.linearization_level = 2
        solver.parameters.symmetry_level = 0
        solver.parameters.max_deterministic_time = budget.deterministic_seconds
        solver.parameters.max_time_in_seconds = max(budget.wall_seconds, 0.0)
        status = solver.solve(self.model)
        budget.deterministic_seconds -= solver.response_proto.deterministic_time
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return frozenset(), False
        taken = frozenset(choice for choice, variable in self.variables.items() if solver.boolean_value(variable))
        return taken, status == cp_model.OPTIMAL


def solver_library() -> Any:
    """CP-SAT, which an installation for scoring does not have; without it, an error that says what to install."""
    try:
        from ortools.sat.python import cp_model
    except ImportError:
        raise missing_extra("converting to a graph", "convert") from None
    return cp_model
