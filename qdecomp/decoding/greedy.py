"""Greedy decoding: every edge that is more probable than not, with its most probable label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy.typing as npt

from .decoder import Decoded
from .scores import LabelProbabilities, Scores

__all__ = ["GreedyDecoder"]


@dataclass(frozen=True, slots=True)
class GreedyDecoder:
    """Takes the edges one by one, so the graph may mean nothing."""

    def decode(
        self,
        tokens: Sequence[str],
        edge_probabilities: npt.ArrayLike,
        label_probabilities: LabelProbabilities,
        labels: Sequence[str],
    ) -> Decoded:
        """See :class:`~qdecomp.decoding.decoder.Decoder`."""
        scores = Scores(tokens, edge_probabilities, label_probabilities, labels)
        graph = scores.graph_of(scores.greedy())
        return Decoded(graph, scores.log_score(graph), "greedy")
