"""The most probable valid graph as a CP-SAT program: a variable for each choice, the table's constraints, the costs."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from qdecomp.data_structures.alignment.align import new_solver
from qdecomp.data_structures.errors import missing_extra
from qdecomp.decoding.constraints import CONSTRAINTS, Arc, Arcs, EdgeChoice, Literal
from qdecomp.decoding.coverage import Coverage
from qdecomp.decoding.scores import EdgeCandidates

try:
    from ortools.sat.python import cp_model
except ImportError:
    raise missing_extra("the decoder ilp", "convert") from None

# Costs are integers to the solver: thousandths of a nat.
_PRECISION = 1000
# Time is measured by the solver's own clock, so that results do not depend on how busy the machine is. One of its
# seconds takes about five; the wall clock is only a guard against a stuck machine.
_SOLVER_SECONDS = 0.2
_WALL_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Solution:
    """The choices of the best graph that was found and its cost in nats: infinite if there is no graph.

    ``proven`` says that the candidates allow no cheaper one, and ``seconds`` how long it took.
    """

    choices: tuple[EdgeChoice, ...]
    cost: float
    proven: bool
    seconds: float


def solve_graph(
    tokens: Sequence[str],
    candidates: EdgeCandidates,
    hint: Collection[EdgeChoice],
    time_limit: float,
    excluded: Sequence[Collection[EdgeChoice]],
    coverage: Coverage,
) -> Solution:
    """Look for the cheapest valid graph of the candidates, starting from the choices ``hint``.

    Graphs with exactly the choices of one of the ``excluded`` are ruled out. The penalties for words that a graph
    leaves out are part of its cost.
    """
    logic = _Program()
    variables = [logic.model.new_bool_var("") for _ in candidates.choices]
    pairs = list(zip(candidates.choices, variables, strict=True))
    arcs = Arcs(tokens, pairs)
    for state in CONSTRAINTS.values():
        state(arcs, logic)
    for graph in excluded:
        if all(choice in candidates.choices for choice in graph):
            logic.model.add_bool_or([~variable if choice in graph else variable for choice, variable in pairs])
    coefficients = [-round(_PRECISION * choice.gain) for choice in candidates.choices]
    left_out = [
        logic.none_of([variable for choice, variable in pairs if choice.head in places or choice.dependent in places])
        for places in coverage.positions
    ]
    penalty = round(_PRECISION * coverage.penalty)
    logic.model.minimize(
        cp_model.LinearExpr.weighted_sum([*variables, *left_out], [*coefficients, *[penalty] * len(left_out)])
    )
    for choice, variable in pairs:
        logic.model.add_hint(variable, choice in hint)
    solver = new_solver(time_limit * _SOLVER_SECONDS, time_limit * _WALL_SECONDS)
    # Simplifying these programs takes longer than solving them.
    solver.parameters.cp_model_presolve = False
    status = solver.solve(logic.model)
    seconds = solver.response_proto.deterministic_time / _SOLVER_SECONDS
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Solution((), math.inf, status == cp_model.INFEASIBLE, seconds)
    taken = [index for index, variable in enumerate(variables) if solver.boolean_value(variable)]
    saved = sum(coefficients[index] for index in taken) / _PRECISION
    choices = tuple(candidates.choices[index] for index in taken)
    left_out_cost = coverage.cost((choice.head, choice.dependent) for choice in choices)
    cost = candidates.without_edges + saved + left_out_cost
    return Solution(choices, cost, status == cp_model.OPTIMAL, seconds)


class _Program:
    """The logic of graphs to be found: literals are variables of the model, or constants."""

    def __init__(self) -> None:
        self.model = cp_model.CpModel()

    def any_of(self, literals: Sequence[Literal]) -> Literal:
        open_ones = _open(literals)
        if open_ones is None or len(open_ones) < 2:
            return True if open_ones is None else next(iter(open_ones), False)
        found = self.model.new_bool_var("")
        self.model.add_bool_or([~found, *open_ones])
        return found

    def none_of(self, literals: Sequence[Literal]) -> Literal:
        """A literal that is true at least if all of them are false; the objective makes it false otherwise."""
        found = self.model.new_bool_var("")
        self.model.add_bool_or([found, *literals])
        return found

    def both(self, first: Literal, second: Literal) -> Literal:
        if isinstance(first, bool) or isinstance(second, bool):
            constant, other = (first, second) if isinstance(first, bool) else (second, first)
            return other if constant else False
        found = self.model.new_bool_var("")
        self.model.add_implication(found, first)
        self.model.add_implication(found, second)
        return found

    def unless(self, reasons: Sequence[Literal], blockers: Sequence[Literal]) -> Literal:
        if not reasons:
            return False
        found = self.model.new_bool_var("")
        self.model.add_bool_or([~found, *reasons])
        for reason in reasons:
            self.model.add_bool_or([~reason, found, *blockers])
        for blocker in blockers:
            self.model.add_implication(blocker, ~found)
        return found

    def require(self, condition: Literal, alternatives: Sequence[Literal]) -> None:
        open_ones = _open(alternatives)
        if condition is False or open_ones is None:
            return
        self.model.add_bool_or([*open_ones, *([] if condition is True else [~condition])])

    def at_most_one_group(self, groups: Sequence[Sequence[Literal]]) -> None:
        members = [open_ones for group in groups if (open_ones := _open(group))]
        if len(members) > 1:
            self.model.add_at_most_one([self._some(group) for group in members])

    def _some(self, literals: Sequence[Literal]) -> Literal:
        """A literal that is true at least if one of them is."""
        if len(literals) == 1:
            return literals[0]
        found = self.model.new_bool_var("")
        for literal in literals:
            self.model.add_implication(literal, found)
        return found

    def no_cycle(self, arcs: Sequence[Arc]) -> None:
        """A step is on a higher level than the steps that it refers to."""
        arcs = _within_cycles(arcs)
        positions = {arc.head for arc in arcs}
        levels = {position: self.model.new_int_var(0, len(positions) - 1, "") for position in sorted(positions)}
        for arc in arcs:
            above = levels[arc.head] > levels[arc.dependent]
            self.model.add(above).only_enforce_if(arc.literal)


def _open(literals: Sequence[Literal]) -> list[Literal] | None:
    """The literals without those that are false; None if one is true."""
    if any(literal is True for literal in literals):
        return None
    return [literal for literal in literals if literal is not False]


def _within_cycles(arcs: Sequence[Arc]) -> list[Arc]:
    """Leave out arcs that cannot be in a cycle: repeatedly, those from tokens not entered or to tokens not left."""
    kept = list(arcs)
    while True:
        heads, dependents = {arc.head for arc in kept}, {arc.dependent for arc in kept}
        in_cycles = [arc for arc in kept if arc.head in dependents and arc.dependent in heads]
        if len(in_cycles) == len(kept):
            return kept
        kept = in_cycles
