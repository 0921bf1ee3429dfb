"""The paper's greedy decoding (its section on the graph parser): predicted edges, projected softly onto nodes.

Every edge that is more probable than not is taken. Tokens between which there is a path of ``span`` edges, in either
direction, are one node, and an edge between tokens of two nodes is an edge between the nodes. Little makes that fail:
edges of one node that name two operators, nodes that refer to each other in a cycle, and a node that has neither words
nor edges, for which there is no text.
:class:`~qdecomp.decoding.greedy.GreedyDecoder` takes the same edges, but reads them strictly: it also refuses forks of
``span`` edges, references at other tokens than a node's last, several roots, and steps without a required argument.

What the paper does not say: of several properties, those of the first edge count, as in its published code; edges
within a node are dropped; a ``[DUP]`` without a token to copy is a node without words, and so is the separator; and
of several nodes that nothing refers to, the last one is the root.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from qdecomp.data_structures.conversion.lf_to_sdg import logical_form_from_span_graph
from qdecomp.data_structures.dependency_graph import DependencyGraph
from qdecomp.data_structures.edge_tags import DUPLICATE, SPAN, STRUCTURAL_TAGS, UNUSED, EdgeTag, parse_tag
from qdecomp.data_structures.errors import GraphError
from qdecomp.data_structures.logical_form import LogicalForm
from qdecomp.data_structures.span_graph import SpanEdge, SpanGraph
from qdecomp.data_structures.special_tokens import SEPARATOR
from qdecomp.decoding.decoder import Decoded, Decoder
from qdecomp.decoding.scores import Scores

_STAGE = "projection"


@dataclass(frozen=True, slots=True)
class ProjectionDecoder(Decoder):
    """Takes the edges one by one and reads them softly, so the graph nearly always means something."""

    def decode_scores(self, scores: Scores) -> Decoded:
        """The graph of the edges above one half, with the projection as its reading."""
        graph = scores.graph_of(scores.greedy())
        return Decoded(graph, scores.log_score(graph), "greedy", read=_projected_form)


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
        raise GraphError(_STAGE, "there is no edge")
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
            where = graph.describe(edge.head)
            raise GraphError(_STAGE, f"two operators on one node: {known.operator} and {tag.operator} at token {where}")
        yield SpanEdge(source, node_of[edge.dependent], replace(tag, properties=known.properties))


def _words(graph: DependencyGraph, node: tuple[int, ...]) -> tuple[int, ...]:
    """The words of a node: its own and those that it copies."""
    copied = [edge.dependent for edge in graph.edges if edge.tag == DUPLICATE and edge.head in node]
    found = [*node, *copied]
    return tuple(token for token in found if token < graph.words_end and graph.tokens[token] != SEPARATOR)
