"""GED: how much of the graph of steps must change to get from the prediction to the gold decomposition.

The edit distance of two directed graphs is an integer program: it chooses which node of one graph corresponds to which
node of the other, together with the edges that this makes equal. The published evaluator searches with networkx, which
takes minutes for nine nodes or more and treats a self-loop like any other edge; the program usually takes a fraction of
a second and finds the true minimum.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from qdecomp.data_structures.errors import missing_extra
from qdecomp.evaluation.metrics import MetricResult
from qdecomp.evaluation.metrics.annotation import MissingAnnotationError, SpacyLemmas
from qdecomp.evaluation.metrics.break_text import StepGraph, graph_of, parse_break_text

SECONDS = 20.0
"""The time limit for one question."""

# Setting up a larger program would itself take longer than any sensible limit.
_MOST_VARIABLES = 100_000
_PROVEN_BEST = 0


class Ged:
    """The metric: 0 for the same graph, about 1 (it may be more) for nothing in common.

    A row that takes longer than the time limit has no value; the error says so. Except for self-references, for
    which the official evaluator's values are too low, this is its GED.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._lemmas = SpacyLemmas()

    def __call__(self, question: str, prediction: str, gold: str) -> MetricResult:
        """Score a prediction; an empty one has the worst score."""
        predicted = parse_break_text(prediction)
        if predicted.is_empty:
            return MetricResult(1.0, f"prediction: {predicted.problem}")
        first, second = graph_of(predicted), graph_of(parse_break_text(gold))
        size = max(len(graph.labels) + graph.edge_count for graph in (first, second))
        try:
            return MetricResult(self._distance(first, second) / size)
        except TimeIsUpError:
            return MetricResult(None, f"no graph edit distance within {self._seconds:g} seconds")
        except MissingAnnotationError as error:
            return MetricResult(None, str(error))

    def prepare(self, rows: Iterable[tuple[str, str, str]]) -> None:
        """Look up the lemmas of all rows at once, which is much faster than one by one."""
        texts = dict.fromkeys(text for _, prediction, gold in rows for text in (prediction, gold))
        self._lemmas.prepare(label for text in texts for label in parse_break_text(text).labels)

    def _distance(self, first: StepGraph, second: StepGraph) -> float:
        started = time.monotonic()
        first_lemmas, second_lemmas = (
            [self._lemmas[label] for label in graph.labels.values()] for graph in (first, second)
        )
        costs = []
        for lemmas in first_lemmas:
            costs.append([1.0 - match_ratio(lemmas, others) for others in second_lemmas])
            if time.monotonic() - started > self._seconds:
                raise TimeIsUpError
        problem = EditProblem(costs, _numbered_edges(first), _numbered_edges(second), len(second_lemmas))
        return edit_distance(problem, self._seconds - (time.monotonic() - started))


def match_ratio(prediction: Sequence[str], gold: Sequence[str]) -> float:
    """The share of words that are equal when one text is edited word by word into the other.

    Of several shortest edits, the official evaluator prefers replacing to inserting, and inserting to deleting.

    >>> match_ratio(["from", "sfo", "to", "denver"], ["from", "sfo"])
    0.6666666666666666
    """
    if not prediction and not gold:
        return 1.0
    # For each prefix of the gold text: the cost so far and the number of equal words.
    above = [(cost, 0) for cost in range(len(gold) + 1)]
    for row, word in enumerate(prediction, start=1):
        current = [(row, 0)]
        for column, wanted in enumerate(gold, start=1):
            cost, matches = above[column - 1]
            replaced = (cost, matches + 1) if word == wanted else (cost + 1, matches)
            inserted = (current[-1][0] + 1, current[-1][1])
            deleted = (above[column][0] + 1, above[column][1])
            current.append(min(replaced, inserted, deleted, key=lambda way: way[0]))
        above = current
    return 2 * above[-1][1] / (len(prediction) + len(gold))


def _numbered_edges(graph: StepGraph) -> list[tuple[int, int]]:
    place = {node: number for number, node in enumerate(graph.labels)}
    return [(place[node], place[target]) for node, targets in graph.edges.items() for target in targets]


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
    try:
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import coo_array
    except ImportError:
        raise missing_extra("GED", "norm-em") from None

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
