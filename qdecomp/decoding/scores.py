"""What a parser's probabilities say about choices: log scores of graphs, and what each choice costs.

The score of a graph is the logarithm of its probability: of the label for every pair with an edge, and of no edge for
every other pair. The *cost* of a choice is how much worse it is than the best that is possible for its pair, so the
cost of a graph is never below zero, and a choice that costs more than some valid graph cannot be in a better one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np
import numpy.typing as npt

from qdecomp.data_structures.dependency_graph import DependencyGraph, Edge
from qdecomp.data_structures.edge_tags import join_tags, split_tags
from qdecomp.data_structures.errors import DataError
from qdecomp.decoding.constraints import EdgeChoice, TokenKind, is_possible, token_kinds

_Array = npt.NDArray[np.float64]
Places = Sequence[int] | npt.NDArray[np.intp]
"""Positions of tokens."""

LabelProbabilities = npt.ArrayLike | Callable[[Places, Places], npt.NDArray[np.floating]]
"""The label probabilities of all pairs [n, n, labels], or a function that gives those of some pairs [pairs, labels].

Few pairs are ever needed, so a function saves a parser most of the work. It is given heads and dependents.
"""

# Probabilities of exactly 0 and 1 come from rounding, and would make it impossible to compare invalid graphs.
_SMALLEST = 1e-9
_TOLERANCE = 1e-3
ROUNDING = 1e-6
"""Choices of equal cost may differ by this much."""
# Digits of the probabilities that edges are shown with; further digits differ between batches and machines.
_DIGITS = 4


@dataclass(frozen=True, slots=True)
class EdgeCandidates:
    """Choices with their costs, and what a graph with no edge at any of their pairs costs.

    ``complete_below`` says that every choice that costs less is among them.
    """

    choices: tuple[EdgeChoice, ...]
    costs: tuple[float, ...]
    without_edges: float
    complete_below: float


class Scores:
    """Checked probabilities of one question: ``edges`` [n, n], and of labels for any pairs."""

    def __init__(
        self,
        tokens: Sequence[str],
        edge_probabilities: npt.ArrayLike,
        label_probabilities: LabelProbabilities,
        labels: Sequence[str],
    ) -> None:
        self.tokens = tuple(tokens)
        self.names = tuple(labels)
        self.edges = np.asarray(edge_probabilities)
        size = len(self.tokens)
        _check("edge probabilities", self.edges, (size, size))
        if callable(label_probabilities):
            self._label_probabilities = label_probabilities
        else:
            table = np.asarray(label_probabilities)
            _check("label probabilities", table, (size, size, len(self.names)))
            self._label_probabilities = lambda heads, dependents: table[heads, dependents]
        self._edges = _clipped(self.edges)
        self._index = {_canonical(name): index for index, name in enumerate(self.names)}

    def graph_of(self, choices: Sequence[EdgeChoice]) -> DependencyGraph:
        """The graph with these edges, each with its probability."""
        edges: list[Edge] = []
        heads, dependents = _columns([(choice.head, choice.dependent) for choice in choices])
        labels = self.labels_of(heads, dependents)[range(len(choices)), [self._column(choice) for choice in choices]]
        probabilities = self.edges[heads, dependents] * labels
        for choice, probability in zip(choices, probabilities.tolist(), strict=True):
            score = round(probability, _DIGITS)
            edges.extend(Edge(choice.head, choice.dependent, tag, score) for tag in split_tags(choice.label))
        return DependencyGraph(self.tokens, tuple(edges))

    def log_score(self, graph: DependencyGraph) -> float:
        """The logarithm of a graph's probability, with probabilities of 0 and 1 slightly moved."""
        pairs = graph.labels()
        heads, dependents = _columns(list(pairs))
        columns = [self._index[label] for label in pairs.values()]
        chosen = _clipped(self.labels_of(heads, dependents)[range(len(columns)), columns])
        without = np.log1p(-self._edges)
        inside = np.log(self._edges[heads, dependents]) + np.log(chosen) - without[heads, dependents]
        return float(without.sum() + inside.sum())

    def greedy(self) -> list[EdgeChoice]:
        """For each pair whose edge is more probable than not, the most probable label."""
        heads, dependents = np.nonzero(self.edges > 0.5)
        if not len(heads) or not self.names:
            return []
        best = self.labels_of(heads, dependents).argmax(axis=1)
        return [
            EdgeChoice(int(head), int(dependent), self.names[label])
            for head, dependent, label in zip(heads, dependents, best, strict=True)
        ]

    def candidates(self, below: float, limit: int, also: Collection[EdgeChoice] = ()) -> EdgeCandidates:
        """The possible choices that cost less than ``below`` nats: the cheapest ones if there are too many.

        The choices ``also`` are always among them.
        """
        # An edge costs at least log((1 - p) / p) if no edge is better, so improbable pairs need no closer look.
        near = self._edges > (1.0 - 1e-6) / (1.0 + np.exp(min(below, 700.0)))
        near[_columns([(choice.head, choice.dependent) for choice in also])] = True
        heads, dependents = np.nonzero(near)
        pairs = list(zip(heads.tolist(), dependents.tolist(), strict=True))
        edges = self._edges[heads, dependents][:, None]
        scores = np.log(edges) + np.log(_clipped(self.labels_of(heads, dependents)))
        scores[~self._possible(heads, dependents)] = -np.inf
        none = np.log1p(-edges)
        best = np.maximum(none, scores.max(axis=1, initial=-np.inf, keepdims=True))
        costs = best - scores
        ranks = costs.copy()
        place = {pair: row for row, pair in enumerate(pairs)}
        for choice in also:
            ranks[place[choice.head, choice.dependent], self._column(choice)] = -1.0
        rows, columns, below = _lowest(ranks, below, limit)
        choices = [
            EdgeChoice(*pairs[row], self.names[column], gain)
            for row, column, gain in zip(rows, columns, (scores - none)[rows, columns].tolist(), strict=True)
        ]
        without_edges = float((best - none)[sorted(set(rows))].sum())
        return EdgeCandidates(tuple(choices), tuple(costs[rows, columns].tolist()), without_edges, below)

    def labels_of(self, heads: Places, dependents: Places) -> npt.NDArray[np.floating]:
        """The probabilities of all labels for some pairs [pairs, labels]."""
        if not len(heads):
            return np.zeros((0, len(self.names)))
        labels = self._label_probabilities(heads, dependents)
        _check("label probabilities", labels, (len(heads), len(self.names)))
        return labels

    def _column(self, choice: EdgeChoice) -> int:
        return self._index[_canonical(choice.label)]

    def _possible(self, heads: npt.NDArray[np.intp], dependents: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
        kinds = np.array(token_kinds(self.tokens), dtype=np.intp)
        rightwards = (heads < dependents).astype(np.intp)
        possible: npt.NDArray[np.bool_] = _possible_labels(self.names)[kinds[heads], kinds[dependents], rightwards]
        possible[heads == dependents] = False
        return possible


@lru_cache(maxsize=16)
def _possible_labels(names: tuple[str, ...]) -> npt.NDArray[np.bool_]:
    """For each kind of head and dependent and both directions, whether each label is possible."""
    rows = [
        [is_possible(head, dependent, rightwards, name) for name in names]
        for head, dependent, rightwards in product(TokenKind, TokenKind, (False, True))
    ]
    return np.array(rows, dtype=np.bool_).reshape(len(TokenKind), len(TokenKind), 2, len(names))


def _lowest(ranks: _Array, below: float, limit: int) -> tuple[list[int], list[int], float]:
    """Where the ranks are below a bound, row by row; the bound is lowered if there are too many."""
    rows, columns = np.nonzero(ranks < below)
    if len(rows) > limit:
        found = ranks[rows, columns]
        below = float(np.partition(found, limit)[limit])
        # Of those that are equal to the bound, the first ones.
        lower = found < below
        lower[np.flatnonzero(found == below)[: limit - np.count_nonzero(lower)]] = True
        rows, columns = rows[lower], columns[lower]
    return rows.tolist(), columns.tolist(), below


def _canonical(label: str) -> str:
    return join_tags(split_tags(label))


def _columns(pairs: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    return [head for head, _ in pairs], [dependent for _, dependent in pairs]


def _clipped(probabilities: npt.NDArray[np.floating]) -> _Array:
    return np.clip(probabilities.astype(np.float64), _SMALLEST, 1.0 - _SMALLEST)


def _check(what: str, values: npt.NDArray[np.floating], shape: tuple[int, ...]) -> None:
    if values.shape != shape:
        raise DataError(f"decoding: the {what} have the shape {values.shape}; the tokens and labels need {shape}")
    if not values.size:
        return
    # A sum is NaN if any term is, while a maximum says nothing about that.
    if not np.isfinite(values.sum()) or values.min() < -_TOLERANCE or values.max() > 1 + _TOLERANCE:
        raise DataError(f"decoding: the {what} are not all numbers from 0 to 1; was the model trained to the end?")
