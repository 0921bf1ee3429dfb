"""What a decoder is, and the greedy ones: every edge that is more probable than not, with its most probable label.

Such a graph is often not valid. ``greedy_valid`` removes the edges that break constraints: of edges that contradict
each other, the most probable one stays. ``projection`` is the paper's greedy decoding (its section on the graph
parser): it projects the predicted edges softly onto nodes. Tokens between which there is a path of ``span`` edges, in
either direction, are one node, and an edge between tokens of two nodes is an edge between the nodes. Little makes that
fail: edges of one node that name two operators, nodes that refer to each other in a cycle, and a node that has neither
words nor edges, for which there is no text. ``greedy`` takes the same edges, but reads them strictly: it also refuses
forks of ``span`` edges, references at other tokens than a node's last, several roots, and steps without a required
argument.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy.typing as npt

from qdecomp.data_structures.conversion.chain import logical_form_from_graph
from qdecomp.data_structures.conversion.lf_to_sdg import logical_form_from_span_graph
from qdecomp.data_structures.conversion.sdg_to_dg import project
from qdecomp.data_structures.dependency_graph import DependencyGraph
from qdecomp.data_structures.errors import GraphError
from qdecomp.data_structures.logical_form import LogicalForm
from qdecomp.decoding.constraints import EdgeChoice
from qdecomp.decoding.scores import ROUNDING, LabelProbabilities, Scores
from qdecomp.decoding.validity import drop_broken_choices, is_valid

NO_VALID_GRAPH = "no valid graph of these tokens and labels was found"


@dataclass(frozen=True, slots=True)
class Decoded:
    """A graph whose edges carry their probabilities, and the logarithm of its probability, minus penalties."""

    graph: DependencyGraph
    score: float
    others: tuple[tuple[DependencyGraph, float], ...] = ()
    """The next most probable valid graphs with their scores, if the decoder was asked for them."""
    read: Callable[[DependencyGraph], LogicalForm] = logical_form_from_graph
    """How the steps are read off the graph."""


@dataclass(frozen=True, slots=True)
class Decoder(ABC):
    """Turns the probabilities of one question into a graph; its fields are the options of a config."""

    def decode(
        self,
        tokens: Sequence[str],
        edge_probabilities: npt.ArrayLike,
        label_probabilities: LabelProbabilities,
        labels: Sequence[str],
    ) -> Decoded:
        """Decode edge probabilities [n, n] and, for every pair, label probabilities [n, n, number of labels].

        The first index is the head's. The latter may be a function that gives them for some pairs, see
        :data:`~qdecomp.decoding.scores.LabelProbabilities`. Bad numbers or shapes are a
        :class:`~qdecomp.data_structures.errors.DataError`.
        """
        return self.decode_scores(Scores(tokens, edge_probabilities, label_probabilities, labels))

    @abstractmethod
    def decode_scores(self, scores: Scores) -> Decoded:
        """Decode probabilities that were checked; if no valid graph can be found, a :class:`GraphError`."""


@dataclass(frozen=True, slots=True)
class GreedyDecoder(Decoder):
    """Takes the edges one by one, so the graph may mean nothing."""

    def decode_scores(self, scores: Scores) -> Decoded:
        """The graph of the edges above one half."""
        graph = scores.graph_of(scores.greedy())
        return Decoded(graph, scores.log_score(graph))


@dataclass(frozen=True, slots=True)
class GreedyValidDecoder(Decoder):
    """Takes the edges one by one and removes those that break constraints, so the graph always means something."""

    def decode_scores(self, scores: Scores) -> Decoded:
        """The greedy graph if it is valid, or else the valid part of it."""
        graph = scores.graph_of(scores.greedy())
        if not is_valid(graph):
            choices = compatible_choices(scores)
            if not choices:
                raise GraphError("decoding", NO_VALID_GRAPH)
            graph = scores.graph_of(choices)
        return Decoded(graph, scores.log_score(graph))


def compatible_choices(scores: Scores) -> tuple[EdgeChoice, ...]:
    """The best choice of each pair, as far as they are compatible; or else the cheapest one that is valid alone."""
    best = scores.candidates(ROUNDING, limit=4 * len(scores.tokens))
    kept = drop_broken_choices(scores.tokens, best.choices)
    # If none of the cheapest choices is a graph alone, others are unlikely to be.
    for limit in (200, 20_000):
        if not kept:
            cheapest = scores.candidates(float("inf"), limit)
            in_order = sorted(zip(cheapest.costs, cheapest.choices, strict=True), key=lambda pair: pair[0])
            kept = next((part for _, choice in in_order if (part := drop_broken_choices(scores.tokens, [choice]))), ())
    return kept


@dataclass(frozen=True, slots=True)
class ProjectionDecoder(Decoder):
    """Takes the edges one by one and reads them softly, so the graph nearly always means something."""

    def decode_scores(self, scores: Scores) -> Decoded:
        """The graph of the edges above one half, with the projection as its reading."""
        return replace(GreedyDecoder().decode_scores(scores), read=_projected_form)


def _projected_form(graph: DependencyGraph) -> LogicalForm:
    return logical_form_from_span_graph(project(graph), complete=False)
