"""GED: the edit distance between the graphs of two decompositions, relative to the size of the larger one.

The edit distance of two directed graphs is an integer program: it chooses which nodes of the two graphs are matched,
and with them which edges. The published evaluator searches with networkx, which takes minutes for nine nodes or more
and treats a self-loop like any other edge; the program usually takes a fraction of a second and finds the true minimum.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from qdecomp.data_structures.errors import missing_extra
from qdecomp.evaluation.metrics import MetricResult
from qdecomp.evaluation.metrics.annotation import MissingAnnotationError, Remembered, lemmas
from qdecomp.evaluation.metrics.break_text import StepGraph, graph_of, parse_break_text

Edges: TypeAlias = Sequence[tuple[int, int]]

# Setting up a larger program would itself take longer than any sensible limit.
_MOST_VARIABLES = 100_000
_OPTIMAL = 0


class Ged:
    """The metric: 0 for the same graph, about 1 (or more) for nothing in common.

    A row that takes longer than the time limit has no value; the error says so. The values are the official
    evaluator's, except for self-references, where those are too low.
    """

    def __init__(self, seconds: float = 20.0) -> None:
        self._seconds = seconds
        self._lemmas = Remembered(lemmas)

    def __call__(self, question: str, prediction: str, gold: str) -> MetricResult:
        """Score a prediction; an empty one has the worst score."""
        predicted = parse_break_text(prediction)
        if predicted.is_empty:
            return MetricResult(1.0, f"prediction: {predicted.problem}")
        first, second = graph_of(predicted), graph_of(parse_break_text(gold))
        size = max(len(graph.labels) + sum(map(len, graph.edges.values())) for graph in (first, second))
        try:
            distance = self._distance(first, second)
        except MissingAnnotationError as error:
            return MetricResult(None, str(error))
        if distance is None:
            return MetricResult(None, f"no graph edit distance within {self._seconds:g} seconds")
        return MetricResult(distance / size)

    def prepare(self, rows: Iterable[tuple[str, str, str]]) -> None:
        """Look up the lemmas of all rows at once, which is much faster than one by one."""
        self._lemmas.prepare(label for _, *texts in rows for text in texts for label in parse_break_text(text).labels)

    def _distance(self, first: StepGraph, second: StepGraph) -> float | None:
        started = time.monotonic()
        (first_lemmas, first_edges), (second_lemmas, second_edges) = map(self._numbered, (first, second))
        costs = np.empty((len(first_lemmas), len(second_lemmas)))
        for row, words in zip(costs, first_lemmas, strict=True):
            row[:] = [1.0 - match_ratio(words, others) for others in second_lemmas]
            if time.monotonic() - started > self._seconds:
                return None
        return edit_distance(costs, first_edges, second_edges, self._seconds - (time.monotonic() - started))

    def _numbered(self, graph: StepGraph) -> tuple[list[tuple[str, ...]], Edges]:
        """The lemmas of the nodes 0, 1, 2, … and the edges between them."""
        place = {node: number for number, node in enumerate(graph.labels)}
        edges = [(place[node], place[target]) for node, targets in graph.edges.items() for target in targets]
        return [self._lemmas[label] for label in graph.labels.values()], edges


def match_ratio(prediction: Sequence[str], gold: Sequence[str]) -> float:
    """The share of words that stay when one text is edited word by word into the other.

    Of several shortest edits, the official evaluator prefers replacing to inserting, and inserting to deleting.

    >>> match_ratio(["from", "sfo", "to", "denver"], ["from", "sfo"])
    0.6666666666666666
    """
    if not prediction and not gold:
        return 1.0
    # For each prefix of the gold text: the cost so far and the number of matching words.
    above = [(cost, 0) for cost in range(len(gold) + 1)]
    for row, word in enumerate(prediction, start=1):
        current = [(row, 0)]
        for column, wanted in enumerate(gold, start=1):
            cost, matches = above[column - 1]
            replaced = (cost, matches + 1) if word == wanted else (cost + 1, matches)
            inserted = (current[-1][0] + 1, current[-1][1])
            deleted = (above[column][0] + 1, above[column][1])
            current.append(min(replaced, inserted, deleted, key=lambda edit: edit[0]))
        above = current
    return 2 * above[-1][1] / (len(prediction) + len(gold))


def edit_distance(
    costs: npt.NDArray[np.float64], first_edges: Edges, second_edges: Edges, seconds: float
) -> float | None:
    """The least total cost of edits that turn the first graph into the second; None if the time is too short.

    ``costs`` has a row for each node of the first graph and a column for each of the second: what it costs to match
    them. Adding or removing a node or an edge costs 1; keeping an edge costs nothing.

    >>> edit_distance(np.array([[0.0, 1.0], [1.0, 0.5]]), [(1, 0)], [(1, 0)], seconds=10)
    0.5
    """
    (first_size, second_size), edge_pairs = costs.shape, len(first_edges) * len(second_edges)
    if costs.size + edge_pairs > _MOST_VARIABLES or seconds <= 0:
        return None
    without_matches = float(first_size + second_size + len(first_edges) + len(second_edges))
    if not costs.size:
        return without_matches
    try:
        from scipy import sparse
        from scipy.optimize import Bounds, LinearConstraint, milp
    except ImportError:
        raise missing_extra("GED", "norm-em") from None

    each_first, each_second = (sparse.eye_array(size, format="csr") for size in costs.shape)
    # The node at each end of each edge.
    first_ends = each_first[[node for edge in first_edges for node in edge]]
    second_ends = sparse.vstack([each_second[[edge[end] for edge in second_edges]].T for end in (0, 1)])
    kron = partial(sparse.kron, format="coo")
    # Each variable says whether a pair of nodes, or of edges, is matched. A node matches at most one other, and edges
    # match only if the nodes at both ends do.
    matrix = sparse.block_array(
        [
            [kron(each_first, np.ones((1, second_size))), None],
            [kron(np.ones((1, first_size)), each_second), None],
            [kron(-first_ends, each_second), kron(sparse.eye_array(len(first_edges)), second_ends)],
        ]
    ).tocsr()
    result = milp(
        -np.append(2.0 - costs, np.full(edge_pairs, 2.0)),
        constraints=LinearConstraint(matrix, -np.inf, np.arange(matrix.shape[0]) < first_size + second_size),
        integrality=1,
        bounds=Bounds(0, 1),
        options={"time_limit": seconds, "mip_rel_gap": 0},
    )
    return without_matches + float(result.fun) if result.status == _OPTIMAL else None
