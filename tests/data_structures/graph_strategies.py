"""Graphs by hand, and generated ones for property tests: valid span graphs, and dependency graphs that mean nothing."""

from __future__ import annotations

from hypothesis import strategies as st

from qdecomp.data_structures.dependency_graph import DependencyGraph, Edge
from qdecomp.data_structures.edge_tags import EdgeTag, parse_tag, tag_vocabulary
from qdecomp.data_structures.operators import OPERATORS, Operator
from qdecomp.data_structures.span_graph import SpanEdge, SpanGraph
from qdecomp.data_structures.special_tokens import SpecialTokens

QUESTION = ("how", "many", "small", "red", "cubes")
FEW = SpecialTokens(("size",), duplicates=2, dummies=2)
TOKENS = (*QUESTION, *FEW.appended)
SEPARATOR, SIZE, DUP_1, DUP_2, DUM_1, DUM_2 = range(5, 11)


def graph(*edges: tuple, tokens: tuple[str, ...] = TOKENS) -> DependencyGraph:
    """Edges are (head, dependent, tag), perhaps with a score."""
    return DependencyGraph(tokens, tuple(Edge(*edge) for edge in edges))


def triples(graph: DependencyGraph) -> list[tuple[int, int, str]]:
    """The edges without their scores."""
    return [(edge.head, edge.dependent, edge.tag) for edge in graph.edges]


def span_graph(
    nodes: list, *edges: tuple[int, int, str], tokens: tuple[str, ...] = (*QUESTION, *FEW.words)
) -> SpanGraph:
    """Edges are (source, target, tag)."""
    return SpanGraph(tokens, tuple(nodes), tuple(SpanEdge(s, t, parse_tag(tag)) for s, t, tag in edges))


SPECIAL = SpecialTokens(("size", "date"), duplicates=6, dummies=6)

SPECIAL_MARKS = ("[RSC]", "[DUP]", "[DUM]")
tokens = st.text(st.characters(exclude_categories=("Z", "C")), min_size=1, max_size=6).filter(
    lambda token: token.split() == [token] and token not in SPECIAL_MARKS
)
_REFERRING = [operator for operator in Operator if operator is not Operator.SELECT]


@st.composite
def span_graphs(draw: st.DrawFn, special: SpecialTokens = SPECIAL) -> SpanGraph:
    """A span graph that fits the special tokens: every node refers to some of the nodes before it."""
    question = draw(st.lists(tokens, min_size=1, max_size=8))
    words = (*question, *special.words)
    positions = st.sampled_from([i for i in range(len(words)) if i != len(question)])
    count = draw(st.integers(1, special.duplicates))
    nodes, edges = [], []
    for node in range(count):
        smallest = 1 if count == 1 else 0
        nodes.append(tuple(draw(st.lists(positions, min_size=smallest, max_size=4))))
        if node == 0 or draw(st.integers(0, 4)) == 0:
            continue
        operator = draw(st.sampled_from(_REFERRING))
        properties = draw(st.sampled_from([(), *((name,) for name in OPERATORS[operator].properties)]))
        for _ in range(draw(st.integers(1, 3))):
            argument = draw(st.sampled_from(OPERATORS[operator].arguments))
            edges.append(SpanEdge(node, draw(st.integers(0, node - 1)), EdgeTag(operator, argument, properties)))
    return SpanGraph(words, tuple(nodes), tuple(edges))


@st.composite
def dependency_graphs(draw: st.DrawFn, special: SpecialTokens = SPECIAL) -> DependencyGraph:
    """Any edges between any tokens; most of these graphs mean nothing."""
    words = (*draw(st.lists(tokens, min_size=1, max_size=6)), *special.appended)
    place = st.integers(0, len(words) - 1)
    tags = st.sampled_from(["span", "duplicate", "unused", "filter-sub", "project-sub", "nonsense", *tag_vocabulary()])
    scores = st.none() | st.floats(0, 1)
    edges = draw(st.lists(st.builds(Edge, place, place, tags, scores), max_size=10))
    return DependencyGraph(words, tuple(edges))
