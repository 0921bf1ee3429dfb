"""The alignment program exactly as defined, without any pruning: the reference for the one that is used.

There is a variable for every step and every token, whether the token is a candidate or not, and for every pair of
steps at every pair of tokens.
"""

from __future__ import annotations

from itertools import product

from ortools.sat.python import cp_model

from qdecomp.data_structures.alignment.align import WEIGHTS, TokenChoice
from qdecomp.data_structures.alignment.candidates import AlignmentProblem


def cost_of(problem: AlignmentProblem, chosen: frozenset[TokenChoice]) -> int:
    """What an alignment costs, term by term; raises AssertionError for one that breaks a rule."""
    tokens = {k: {i for step, i in chosen if step == k} for k in range(len(problem.steps))}
    cost = 0
    for k, step in enumerate(problem.steps):
        content = {i for need in step.needs for i in need}
        assert all(tokens[k] & set(need) for need in step.needs), "a need is not met"
        anchors = tokens[k] - content
        assert len(anchors) <= 1, "two anchors"
        assert anchors <= set(step.anchors), "a token that is no candidate"
        assert all(i not in tokens[other] for i in anchors for other in tokens if other != k), "an anchor is shared"
        cost += WEIGHTS.token * len(tokens[k] & content) + WEIGHTS.anchor * len(anchors)
        cost += WEIGHTS.shows_property * len(anchors & step.shows_property)
        cost += WEIGHTS.exact * len(tokens[k] & step.exact)
        cost += WEIGHTS.position * sum(tokens[k]) + WEIGHTS.step * k * len(tokens[k])
    for i in range(problem.size):
        cost += WEIGHTS.shared * max(0, sum(i in tokens[k] for k in tokens) - 1)
    for left, right in problem.neighbours:
        for k, other in product(tokens, repeat=2):
            if left in tokens[k] and right in tokens[other]:
                cost += pair_gain(problem, k, other)
    return cost


def pair_gain(problem: AlignmentProblem, k: int, other: int) -> int:
    if k == other:
        return WEIGHTS.sequence
    related = other in problem.steps[k].references or k in problem.steps[other].references
    return WEIGHTS.reference if related else 0


def dense_optimum(problem: AlignmentProblem) -> int:
    """The cost of the best alignment, proved by the solver."""
    model = cp_model.CpModel()
    steps, places = range(len(problem.steps)), range(problem.size)
    content = {(k, i): model.new_bool_var("") for k in steps for i in places}
    anchor = {(k, i): model.new_bool_var("") for k in steps for i in places}
    costs = []
    for k in steps:
        step = problem.steps[k]
        candidates = {i for need in step.needs for i in need}
        for i in places:
            if i not in candidates:
                model.add(content[k, i] == 0)
            if i not in step.anchors or i in candidates:
                model.add(anchor[k, i] == 0)
            rest = WEIGHTS.position * i + WEIGHTS.step * k + (WEIGHTS.exact if i in step.exact else 0)
            costs.append((WEIGHTS.token + rest) * content[k, i])
            shows_property = WEIGHTS.shows_property if i in step.shows_property else 0
            costs.append((WEIGHTS.anchor + shows_property + rest) * anchor[k, i])
        for need in step.needs:
            model.add(sum(content[k, i] for i in need) >= 1)
        model.add(sum(anchor[k, i] for i in places) <= 1)
    for i in places:
        users = sum(content[k, i] for k in steps)
        for k in steps:
            others = sum(content[other, i] + anchor[other, i] for other in steps if other != k)
            model.add(others == 0).only_enforce_if(anchor[k, i])
        further = model.new_int_var(0, len(problem.steps), "")
        model.add(further >= users - 1)
        costs.append(WEIGHTS.shared * further)
    for left, right in problem.neighbours:
        for k, other in product(steps, repeat=2):
            both = model.new_bool_var("")
            model.add(both <= content[k, left] + anchor[k, left])
            model.add(both <= content[other, right] + anchor[other, right])
            costs.append(pair_gain(problem, k, other) * both)
    model.minimize(sum(costs))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.linearization_level = 2
    assert solver.solve(model) == cp_model.OPTIMAL
    return round(solver.objective_value)
