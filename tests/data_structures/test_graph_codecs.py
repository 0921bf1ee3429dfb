from __future__ import annotations

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdecomp.data_structures.dependency_graph import DependencyGraph, Edge
from qdecomp.data_structures.errors import GraphError
from qdecomp.data_structures.graph_codecs import (
    dependency_graph_from_networkx,
    dependency_graph_to_networkx,
    format_conllu,
    format_dot,
    format_span_dot,
    parse_conllu,
    parse_dot,
    parse_span_dot,
    span_graph_from_networkx,
    span_graph_to_networkx,
)
from tests.data_structures.graph_strategies import dependency_graphs, span_graphs
from tests.data_structures.reading_back import assert_reads_back_or_is_refused

GRAPH = DependencyGraph(('"hi"', "a\\b", "_", "#"), (Edge(2, 0, "filter-sub"),))


@given(dependency_graphs())
def test_dot_reads_back(graph):
    assert parse_dot(format_dot(graph)) == graph


@given(span_graphs())
def test_dot_of_span_graphs_reads_back(graph):
    assert parse_span_dot(format_span_dot(graph)) == graph


@given(dependency_graphs())
def test_the_table_reads_back(graph):
    assert parse_conllu(format_conllu(graph)) == graph


@given(dependency_graphs())
def test_networkx_reads_back_with_scores(graph):
    again = dependency_graph_from_networkx(dependency_graph_to_networkx(graph))
    assert again == graph
    assert [edge.score for edge in again.edges] == [edge.score for edge in graph.edges]


@given(span_graphs())
def test_networkx_of_span_graphs_reads_back(graph):
    assert span_graph_from_networkx(span_graph_to_networkx(graph)) == graph


def test_awkward_tokens_survive():
    assert parse_dot(format_dot(GRAPH)) == GRAPH
    assert parse_conllu(format_conllu(GRAPH)) == GRAPH


def test_networkx_knows_the_graph():
    graph = dependency_graph_to_networkx(GRAPH)
    assert graph.nodes[1]["token"] == "a\\b"
    assert list(graph.edges(keys=True)) == [(2, 0, "filter-sub")]
    assert networkx.is_directed_acyclic_graph(graph)


@pytest.mark.parametrize(
    ("parse", "write"), [(parse_dot, format_dot), (parse_span_dot, format_span_dot), (parse_conllu, format_conllu)]
)
@given(text=st.text())
def test_any_text_is_a_graph_that_reads_back_or_our_error(parse, write, text):
    assert_reads_back_or_is_refused(parse, write, text)


@pytest.mark.parametrize(
    ("parse", "text", "reason"),
    [
        (parse_dot, "graph {}", "expected 'digraph dependency_graph {'"),
        (parse_dot, 'digraph dependency_graph {\n1 [label="a"];\n}', "line 2: expected node 0, got 1"),
        (parse_dot, "digraph dependency_graph {\na -> b\n}", "line 2 is neither a node nor an edge"),
        (parse_span_dot, 'digraph span_graph {\n0 [label="a"];\n}', "a comment with all tokens"),
        (parse_conllu, "1\ta", "line 1: expected 10 columns, got 2"),
        (parse_conllu, "\t".join(["2", "a", *["_"] * 8]), "line 1: expected token 1, got '2'"),
        (parse_conllu, "\t".join(["1", "a", *["_"] * 6, "span", "_"]), "expected head:tag, got 'span'"),
    ],
)
def test_what_is_not_ours_says_where(parse, text, reason):
    with pytest.raises(GraphError, match=reason):
        parse(text)


def test_a_networkx_graph_that_is_not_ours_says_why():
    graph = networkx.MultiDiGraph()
    graph.add_node("a")
    with pytest.raises(GraphError, match="numbers from 0 on"):
        dependency_graph_from_networkx(graph)
    graph = networkx.MultiDiGraph()
    graph.add_node(0)
    with pytest.raises(GraphError, match="no attribute 'token'"):
        dependency_graph_from_networkx(graph)
