"""The exact edit distance of two directed graphs, as an integer program.

The program chooses which node of one graph corresponds to which node of the other, together with the edges that this
makes equal. The published evaluator searches with networkx, which takes minutes for nine nodes or more and treats a
self-loop like any other edge; the program usually takes a fraction of a second and finds the true minimum.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product

__all__ = ["EditProblem", "TimeIsUpError", "edit_distance"]

# Setting up a larger program would itself take longer than any sensible limit.
_MOST_VARIABLES = 100_000
_PROVEN_BEST = 0


class TimeIsUpError(Exception):
    """The distance was not found within the time limit."""


@dataclass(frozen=True, slots=True)
class EditProblem:
    """Two graphs with nodes 0, 1, 2, …: their edges, and what it costs to match a node of one with a node of the other.

    Adding or removing a node or an edge costs 1; keeping an edge costs nothing.
    """

    substitution_costs: Sequence[Sequence[float]]
    first_edges: Sequence[tuple[int, int]]
    second_edges: Sequence[tuple[int, int]]
    second_size: int

    @property
    def first_size(self) -> int:
        """The number of nodes of the first graph."""
        return len(self.substitution_costs)

    @property
    def cost_without_matches(self) -> float:
        """What it costs to remove all of the first graph and add all of the second."""
        return float(self.first_size + self.second_size + len(self.first_edges) + len(self.second_edges))


@dataclass(slots=True)
class _Rows:
    """Rows of an inequality: sums of variables, some of them negative, that are at most ``limits``."""

    rows: list[int] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    values: list[int] = field(default_factory=list)
    limits: list[int] = field(default_factory=list)

    def add(self, positive: Iterable[int], limit: int, negative: Iterable[int] = ()) -> None:
        for sign, columns in ((1, positive), (-1, negative)):
            for column in columns:
                self.rows.append(len(self.limits))
                self.columns.append(column)
                self.values.append(sign)
        self.limits.append(limit)


def edit_distance(problem: EditProblem, seconds: float) -> float:
    """The least total cost of edits that turn the first graph into the second.

    >>> edit_distance(EditProblem([[0.0, 1.0], [1.0, 0.5]], [(1, 0)], [(1, 0)], 2), seconds=10)
    0.5
    """
    variables = problem.first_size * problem.second_size + len(problem.first_edges) * len(problem.second_edges)
    if variables > _MOST_VARIABLES or seconds <= 0:
        raise TimeIsUpError
    if not variables:
        return problem.cost_without_matches
    return problem.cost_without_matches - _largest_saving(problem, seconds)


def _largest_saving(problem: EditProblem, seconds: float) -> float:
    """What the best choice of equal nodes and edges saves; each variable says whether a pair is equal."""
    import numpy as np
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array

    savings = [2.0 - cost for row in problem.substitution_costs for cost in row]
    savings += [2.0] * (len(problem.first_edges) * len(problem.second_edges))
    rows = _constraints(problem)
    matrix = coo_array((rows.values, (rows.rows, rows.columns)), shape=(len(rows.limits), len(savings)))
    result = milp(
        -np.array(savings),
        constraints=LinearConstraint(matrix.tocsr(), -np.inf, rows.limits),
        integrality=1,
        bounds=Bounds(0, 1),
        options={"time_limit": seconds, "mip_rel_gap": 0},
    )
    if result.status != _PROVEN_BEST:
        raise TimeIsUpError
    return -float(result.fun)


def _constraints(problem: EditProblem) -> _Rows:
    """A node equals at most one other node; edges can be equal only if the nodes at both ends are."""
    size = problem.second_size
    edges_start = problem.first_size * size

    def same_node(first: int, second: int) -> int:
        return first * size + second

    def same_edge(first: int, second: int) -> int:
        return edges_start + first * len(problem.second_edges) + second

    rows = _Rows()
    for first in range(problem.first_size):
        rows.add((same_node(first, second) for second in range(size)), 1)
    for second in range(size):
        rows.add((same_node(first, second) for first in range(problem.first_size)), 1)
    for (number, edge), end in product(enumerate(problem.first_edges), (0, 1)):
        for node in range(size):
            others = [other for other, second_edge in enumerate(problem.second_edges) if second_edge[end] == node]
            rows.add((same_edge(number, other) for other in others), 0, negative=[same_node(edge[end], node)])
    return rows
