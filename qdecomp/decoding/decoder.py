"""What a decoder is, and the greedy ones: every edge that is more probable than not, with its most probable label.

Such a graph is often not valid. ``greedy_valid`` removes the edges that break constraints: of edges that contradict
each other, the most probable one stays. ``projection`` is the paper's greedy decoding (its section on the graph
parser): it projects the predicted edges softly onto nodes. Tokens between which there is a path of ``span`` edges, in
either direction, are one node, and an edge between tokens of two nodes is an edge between the nodes. Little makes that
fail: edges of one node that name two operators, nodes that refer to each other in a cycle, and a node that has neither
words nor edges, for which there is no text. ``greedy`` takes the same edges, but reads them strictly: it also refuses
forks of ``span`` edges, references at other tokens than a node's last, several roots, and steps without a required
argument.

What the paper does not say: of several properties, those of the first edge count, as in its published code; edges
within a node are dropped; a ``[DUP]`` without a token to copy is a node without words, and so is the separator; and
of several nodes that nothing refers to, the last one is the root.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy.typing as npt

from qdecomp.data_structures.conversion.chain import logical_form_from_graph
from qdecomp.data_structures.conversion.lf_to_sdg import logical_form_from_span_graph
from qdecomp.data_structures.dependency_graph import DependencyGraph
from qdecomp.data_structures.edge_tags import DUPLICATE, SPAN, STRUCTURAL_TAGS, UNUSED, EdgeTag, parse_tag
from qdecomp.data_structures.errors import GraphError, Reason
from qdecomp.data_structures.logical_form import LogicalForm
from qdecomp.data_structures.span_graph import SpanEdge, SpanGraph
from qdecomp.data_structures.special_tokens import SEPARATOR
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


def project(graph: DependencyGraph) -> SpanGraph:
    """The span graph that predicted edges say; a :class:`GraphError` if they contradict each other.

    >>> from qdecomp.data_structures.dependency_graph import Edge
    >>> edges = (Edge(1, 0, "span"), Edge(1, 2, "span"), Edge(3, 1, "aggregate-arg[count]"))
    >>> project(DependencyGraph(("small", "red", "cubes", "number"), edges)).nodes
    ((0, 1, 2), (3,))
    """
    nodes = _nodes(graph)
    if not nodes:
        raise GraphError("projection", "there is no edge")
    node_of = {token: number for number, tokens in enumerate(nodes) for token in tokens}
    edges = list(_references(graph, node_of))
    roots = set(range(len(nodes))) - {edge.target for edge in edges}
    used_roots = roots - {node_of[edge.dependent] for edge in graph.edges if edge.tag == UNUSED}
    order = sorted(range(len(nodes)), key=lambda number: (number in (used_roots or roots), number))
    place = {old: new for new, old in enumerate(order)}
    return SpanGraph(
        graph.tokens[: graph.words_end],
        tuple(_words(graph, nodes[number]) for number in order),
        tuple(SpanEdge(place[edge.source], place[edge.target], edge.tag) for edge in edges),
    )


def _nodes(graph: DependencyGraph) -> list[tuple[int, ...]]:
    """The tokens of each node: those that ``span`` edges connect; sorted by their last one.

    A token that is only copied belongs to the nodes of its copies.
    """
    group: dict[int, set[int]] = {}
    for edge in graph.edges:
        for token in (edge.head,) if edge.tag == DUPLICATE else (edge.head, edge.dependent):
            group.setdefault(token, {token})
        if edge.tag == SPAN:
            joined = group[edge.head] | group[edge.dependent]
            group.update(dict.fromkeys(joined, joined))
    return sorted({tuple(sorted(tokens)) for tokens in group.values()}, key=lambda tokens: tokens[-1])


def _references(graph: DependencyGraph, node_of: dict[int, int]) -> Iterator[SpanEdge]:
    """The edges between nodes; a node has one operator, and the properties of its first edge."""
    first: dict[int, EdgeTag] = {}
    for edge in graph.edges:
        if edge.tag in STRUCTURAL_TAGS or node_of[edge.head] == node_of[edge.dependent]:
            continue
        source, tag = node_of[edge.head], parse_tag(edge.tag)
        known = first.setdefault(source, tag)
        if known.operator != tag.operator:
            details = known.operator, tag.operator, graph.describe(edge.head)
            raise GraphError("projection", Reason("two operators on one node: {} and {} at token {}", *details))
        yield SpanEdge(source, node_of[edge.dependent], replace(tag, properties=known.properties))


def _words(graph: DependencyGraph, node: tuple[int, ...]) -> tuple[int, ...]:
    """The words of a node: its own and those that it copies."""
    copied = [edge.dependent for edge in graph.edges if edge.tag == DUPLICATE and edge.head in node]
    found = [*node, *copied]
    return tuple(token for token in found if token < graph.words_end and graph.tokens[token] != SEPARATOR)
