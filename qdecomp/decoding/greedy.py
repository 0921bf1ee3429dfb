"""Greedy decoding: every edge that is more probable than not, with its most probable label.

Such a graph is often not valid. ``greedy_valid`` removes the edges that break constraints: of edges that contradict
each other, the most probable one stays.
"""

from __future__ import annotations

from dataclasses import dataclass

from qdecomp.data_structures.errors import GraphError
from qdecomp.decoding.choices import EdgeChoice
from qdecomp.decoding.decoder import Decoded, Decoder
from qdecomp.decoding.scores import Scores
from qdecomp.decoding.validity import broken_constraints, drop_broken_choices

# How many of the cheapest choices are tried alone; if none of these is a graph, others are unlikely to be.
_MOST_ALONE = 20_000
# Choices of equal cost may differ by rounding.
_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class GreedyDecoder(Decoder):
    """Takes the edges one by one, so the graph may mean nothing."""

    def decode_scores(self, scores: Scores) -> Decoded:
        """The graph of the edges above one half."""
        graph = scores.graph_of(scores.greedy())
        return Decoded(graph, scores.log_score(graph), "greedy")


@dataclass(frozen=True, slots=True)
class GreedyValidDecoder(Decoder):
    """Takes the edges one by one and removes those that break constraints, so the graph always means something."""

    def decode_scores(self, scores: Scores) -> Decoded:
        """The greedy graph if it is valid, or else the valid part of it; if there is none, a :class:`GraphError`."""
        graph = scores.graph_of(scores.greedy())
        broken = broken_constraints(graph)
        if not broken:
            return Decoded(graph, scores.log_score(graph), "greedy")
        choices = compatible_choices(scores)
        if not choices:
            raise GraphError("decoding", "no valid graph of these tokens and labels was found")
        graph = scores.graph_of(choices)
        return Decoded(graph, scores.log_score(graph), "repair", broken=broken)


def compatible_choices(scores: Scores) -> tuple[EdgeChoice, ...]:
    """The best choice of each pair, as far as they are compatible; or else the cheapest one that is valid alone."""
    best = scores.candidates(_ROUNDING, limit=4 * len(scores.tokens))
    kept = drop_broken_choices(scores.tokens, best.choices)
    for limit in (200, _MOST_ALONE):
        if not kept:
            cheapest = scores.candidates(float("inf"), limit)
            in_order = sorted(zip(cheapest.costs, cheapest.choices, strict=True), key=lambda pair: pair[0])
            kept = next((part for _, choice in in_order if (part := drop_broken_choices(scores.tokens, [choice]))), ())
    return kept
