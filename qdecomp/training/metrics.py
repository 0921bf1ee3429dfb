"""AllenNLP metrics for validation: LF-EM and valid outputs, and the agreement of edges.

All values are plain floats, since the training state of a run is written with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

import torch
from allennlp.nn.util import dist_reduce_sum
from allennlp.training.metrics import Metric

from qdecomp.data_structures.errors import QDecompError
from qdecomp.data_structures.lf_em import normalized_text
from qdecomp.parsers.decomposition import Decomposition
from qdecomp.training.fields import NO_EDGE, edge_matrix, label_matrix


@lru_cache(maxsize=65536)
def _normalized_gold(question: str, gold: str) -> str | None:
    """The gold side of LF-EM, which is the same in every epoch."""
    try:
        return normalized_text(question, gold)
    except QDecompError:
        return None


@Metric.register("decomposition_scores")
class DecompositionScores(Metric):
    """LF-EM over predicted decompositions, and the share of predictions that have a logical form (``valid``).

    A question whose gold has no logical form counts as wrong, as everywhere.
    """

    def __init__(self) -> None:
        self.reset()

    def __call__(self, predictions: Iterable[Decomposition], golds: Iterable[str]) -> None:  # type: ignore[override]
        """Add a batch."""
        for prediction, gold in zip(predictions, golds, strict=True):
            self._total += 1
            self._valid += prediction.logical_form is not None
            self._correct += _matches(prediction, gold)

    def get_metric(self, reset: bool = False) -> dict[str, float]:
        """``lf_em`` and ``valid``."""
        correct, valid, total = (float(dist_reduce_sum(n)) for n in (self._correct, self._valid, self._total))
        if reset:
            self.reset()
        return {"lf_em": correct / total if total else 0.0, "valid": valid / total if total else 0.0}

    def reset(self) -> None:
        """Forget all batches."""
        self._correct = self._valid = self._total = 0


def _matches(prediction: Decomposition, gold: str) -> bool:
    """LF-EM of the decomposition's text, as ``qdecomp evaluate`` reads it from a record."""
    if prediction.text is None:
        return False
    expected = _normalized_gold(prediction.question, gold)
    try:
        return expected is not None and normalized_text(prediction.question, prediction.text) == expected
    except QDecompError:
        return False


@Metric.register("edge_scores")
class EdgeScores(Metric):
    """F1 of predicted edges without their labels (``edge_f1``) and with them (``labeled_f1``)."""

    def __init__(self) -> None:
        self.reset()

    def __call__(  # type: ignore[override]
        self, predicted: torch.Tensor, graph: Mapping[str, torch.Tensor], count: int
    ) -> None:
        """Add the questions of a batch whose gold is known: predicted labels of all pairs, :data:`NO_EDGE` for none.

        A gold label that is not among the ``count`` labels of the vocabulary is still an edge.
        """
        edges, known = graph["edges"], graph["known"]
        gold = label_matrix(edges, predicted.size(1), NO_EDGE)
        gold = torch.where(edge_matrix(edges, predicted.size(1)) & (gold == NO_EDGE), count, gold)
        predicted, gold = predicted[known], gold[known]
        has_edge, has_gold = predicted >= 0, gold >= 0
        both = has_edge & has_gold
        self._found += int(both.sum())
        self._labeled += int((both & (predicted == gold)).sum())
        self._predicted += int(has_edge.sum())
        self._gold += int(has_gold.sum())

    def get_metric(self, reset: bool = False) -> dict[str, float]:
        """``edge_f1`` and ``labeled_f1``."""
        counts = (self._found, self._labeled, self._predicted, self._gold)
        found, labeled, predicted, gold = (float(dist_reduce_sum(count)) for count in counts)
        if reset:
            self.reset()
        both_sides = predicted + gold
        return {
            "edge_f1": 2 * found / both_sides if both_sides else 0.0,
            "labeled_f1": 2 * labeled / both_sides if both_sides else 0.0,
        }

    def reset(self) -> None:
        """Forget all batches."""
        self._found = self._labeled = self._predicted = self._gold = 0
