"""Greedy decoding: every edge that is more probable than not, with its most probable label."""

from __future__ import annotations

from dataclasses import dataclass

from .decoder import Decoded, Decoder
from .scores import Scores

__all__ = ["GreedyDecoder"]


@dataclass(frozen=True, slots=True)
class GreedyDecoder(Decoder):
    """Takes the edges one by one, so the graph may mean nothing."""

    def decode_scores(self, scores: Scores) -> Decoded:
        """The graph of the edges above one half."""
        graph = scores.graph_of(scores.greedy())
        return Decoded(graph, scores.log_score(graph), "greedy")
