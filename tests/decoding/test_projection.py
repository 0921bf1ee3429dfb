from __future__ import annotations

import pytest
from hypothesis import given

from qdecomp.data_structures.conversion.sdg_to_dg import to_dependency_graph, to_span_graph
from qdecomp.data_structures.dependency_graph import DependencyGraph, Edge
from qdecomp.data_structures.errors import GraphError
from qdecomp.decoding import make_decoder
from qdecomp.decoding.decoder import project
from qdecomp.parsers.decomposition import decomposition_from_decoded
from tests.data_structures.graph_strategies import SPECIAL, dependency_graphs, span_graphs
from tests.decoding.decoding_examples import DUM_1, DUP_1, SEPARATOR, TOKENS, problem

HOW, MANY, SMALL, RED, CUBES = range(5)


def nodes_and_edges(*edges):
    found = project(DependencyGraph(TOKENS, tuple(Edge(*edge) for edge in edges)))
    return found.nodes, [(edge.source, edge.target, str(edge.tag.operator)) for edge in found.edges]


@given(span_graphs())
def test_the_projection_of_a_gold_graph_is_its_span_graph(graph):
    assert project(to_dependency_graph(graph, SPECIAL)) == graph


@given(dependency_graphs())
def test_what_can_be_read_strictly_is_projected_to_the_same(graph):
    try:
        strict = to_span_graph(graph)
    except GraphError:
        return
    assert project(graph) == strict


@pytest.mark.parametrize(
    "spans",
    [
        [(SMALL, RED), (RED, CUBES)],
        [(SMALL, CUBES), (RED, CUBES)],  # a fork
        [(CUBES, RED), (SMALL, CUBES)],  # leftwards
        [(SMALL, RED), (RED, CUBES), (SMALL, CUBES)],
    ],
)
def test_tokens_that_span_edges_connect_are_one_node(spans):
    edges = [(head, dependent, "span") for head, dependent in spans]
    # A reference at any token of a node is one of the node.
    for token in (SMALL, RED, CUBES):
        nodes, references = nodes_and_edges(*edges, (MANY, token, "aggregate-arg[count]"))
        assert nodes == ((SMALL, RED, CUBES), (MANY,))
        assert references == [(1, 0, "aggregate")]


@pytest.mark.parametrize(
    ("edges", "nodes"),
    [
        # Several roots, and an edge within a node.
        (
            [(SMALL, RED, "span"), (RED, SMALL, "filter-sub"), (MANY, CUBES, "aggregate-arg[count]")],
            ((SMALL, RED), (CUBES,), (MANY,)),
        ),
        # A copy has the words that it copies.
        (
            [(DUP_1, CUBES, "duplicate"), (RED, DUP_1, "filter-sub"), (MANY, RED, "aggregate-arg[count]")],
            ((CUBES,), (RED,), (MANY,)),
        ),
        # Special tokens have no words.
        (
            [(RED, DUM_1, "filter-sub"), (MANY, RED, "union-sub"), (MANY, SEPARATOR, "union-sub")],
            ((), (), (RED,), (MANY,)),
        ),
    ],
)
def test_what_is_read_softly(edges, nodes):
    assert sorted(nodes_and_edges(*edges)[0]) == sorted(nodes)


def test_of_several_properties_those_of_the_first_edge_count():
    graph = DependencyGraph(TOKENS, (Edge(MANY, RED, "comparison-arg[max]"), Edge(MANY, CUBES, "comparison-arg[min]")))
    assert {edge.tag.properties for edge in project(graph).edges} == {("max",)}


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([], "there is no edge"),
        # The two tokens are one node.
        ([(SMALL, RED, "span"), (RED, CUBES, "filter-sub"), (SMALL, MANY, "project-sub")], "two operators on one node"),
        ([(RED, CUBES, "filter-sub"), (CUBES, RED, "filter-sub")], "no root"),
    ],
)
def test_only_contradictions_fail(edges, message):
    with pytest.raises(GraphError, match=message):
        nodes_and_edges(*edges)


def test_the_decoder_reads_what_greedy_decoding_refuses():
    # A fork, two roots and a filter without what it filters.
    found = problem(
        (SMALL, CUBES, "span", 0.9), (RED, CUBES, "span", 0.9), (MANY, RED, "aggregate-arg[count]", 0.9),
        (HOW, SMALL, "filter-condition", 0.8),
    )  # fmt: skip
    strict, soft = (make_decoder(name).decode(*found.arguments) for name in ("greedy", "projection"))
    assert (strict.graph, strict.score) == (soft.graph, soft.score)
    assert decomposition_from_decoded("how many small red cubes", strict).logical_form is None
    assert "number of #1" in str(decomposition_from_decoded("how many small red cubes", soft).text)


def test_a_contradiction_is_a_prediction_with_a_reason():
    found = problem((RED, CUBES, "filter-sub", 0.9), (RED, SMALL, "project-sub", 0.9))
    prediction = decomposition_from_decoded("", make_decoder("projection").decode(*found.arguments))
    assert prediction.text is None
    assert prediction.error == "projection: two operators on one node: project and filter at token 3 'red'"
