"""The part of an alignment that needs a solver: choices that depend on each other, as a CP-SAT model."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from ortools.sat.python import cp_model

from qdecomp.data_structures.alignment.costs import ChoiceGroup, Chosen, Costs, TokenChoice
from qdecomp.data_structures.errors import AlignmentError, Reason

__all__ = ["solve_component"]

# The first limit is the same on every machine, so results are, too; the second guards against a stuck machine.
_DETERMINISTIC_SECONDS = 0.3
_WALL_SECONDS = 10.0


def solve_component(groups: Sequence[ChoiceGroup], costs: Costs, chosen: Chosen) -> tuple[frozenset[TokenChoice], bool]:
    """The best choices for groups that affect each other, and whether they are proved to be the best."""
    program = _Program(costs, chosen)
    for group in groups:
        program.add_group(group)
    program.add_sharing()
    program.add_neighbours()
    return program.solve()


class _Program:
    """A model with a variable for each choice that is still open."""

    def __init__(self, costs: Costs, chosen: Chosen) -> None:
        self.costs = costs
        self.chosen = chosen
        self.model = cp_model.CpModel()
        self.variables: dict[TokenChoice, cp_model.IntVar] = {}
        self.anchors: set[TokenChoice] = set()
        self.at: dict[int, list[TokenChoice]] = {}
        self.terms: list[cp_model.IntVar] = []
        self.coefficients: list[int] = []

    def add_group(self, group: ChoiceGroup) -> None:
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

    def add_sharing(self) -> None:
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

    def add_neighbours(self) -> None:
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

    def solve(self) -> tuple[frozenset[TokenChoice], bool]:
        """Run the solver with one thread; two runs give the same choices."""
        self.model.minimize(cp_model.LinearExpr.weighted_sum(self.terms, self.coefficients))
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = 0
        # Linear relaxations settle these problems at once; looking for symmetries costs more than it gains.
        solver.parameters.linearization_level = 2
        solver.parameters.symmetry_level = 0
        solver.parameters.max_deterministic_time = _DETERMINISTIC_SECONDS
        solver.parameters.max_time_in_seconds = _WALL_SECONDS
        status = solver.solve(self.model)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            raise AlignmentError(Reason("the solver found no alignment ({})", solver.status_name(status)))
        taken = frozenset(choice for choice, variable in self.variables.items() if solver.boolean_value(variable))
        return taken, status == cp_model.OPTIMAL
