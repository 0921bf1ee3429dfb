"""GED: how much of the graph of steps must change to get from the prediction to the gold decomposition."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from qdecomp.evaluation.metrics.annotation import MissingAnnotationError
from qdecomp.evaluation.metrics.break_text import parse_break_text
from qdecomp.evaluation.metrics.edit_distance import EditProblem, TimeIsUpError, edit_distance
from qdecomp.evaluation.metrics.metric_table import MetricOptions, MetricResult
from qdecomp.evaluation.metrics.spacy_annotation import SpacyLemmas
from qdecomp.evaluation.metrics.step_graph import StepGraph, graph_of

__all__ = ["Ged", "load_ged", "match_ratio"]


class Ged:
    """The metric: 0 for the same graph, about 1 (it may be more) for nothing in common.

    A row that takes longer than the time limit has no value; the error says so. Except for self-references, for
    which the official evaluator's values are too low, this is its GED.
    """

    def __init__(self, seconds: float) -> None:
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
            [self._lemmas.lemmas(label) for label in graph.labels.values()] for graph in (first, second)
        )
        costs = []
        for lemmas in first_lemmas:
            costs.append([1.0 - match_ratio(lemmas, others) for others in second_lemmas])
            if time.monotonic() - started > self._seconds:
                raise TimeIsUpError
        problem = EditProblem(costs, _numbered_edges(first), _numbered_edges(second), len(second_lemmas))
        return edit_distance(problem, self._seconds - (time.monotonic() - started))


def load_ged(options: MetricOptions) -> Ged:
    """The metric's function, with its time limit."""
    return Ged(options.ged_seconds)


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
