"""Span graphs and dependency graphs as values, their tags and special tokens, and their other forms."""

from __future__ import annotations

import json

import networkx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from qdecomp.data_structures import graph_codecs as codecs
from qdecomp.data_structures.dependency_graph import (
    DependencyGraph,
    Edge,
    dependency_graph_from_json,
    dependency_graph_to_json,
)
from qdecomp.data_structures.edge_tags import STRUCTURAL_TAGS, EdgeTag, format_tag, parse_tag, tag_vocabulary
from qdecomp.data_structures.errors import GraphError
from qdecomp.data_structures.operators import Operator
from qdecomp.data_structures.span_graph import SpanEdge, SpanGraph, span_graph_from_json, span_graph_to_json
from qdecomp.data_structures.special_tokens import SpecialTokens
from tests.data_structures.graph_strategies import dependency_graphs, graph, span_graph, span_graphs


def test_every_tag_of_the_vocabulary_reads_back():
    tags = [tag for tag in tag_vocabulary() if tag not in STRUCTURAL_TAGS]
    assert [format_tag(parse_tag(tag)) for tag in tags] == tags


def test_properties_are_sorted_and_each_is_there_once():
    tag = EdgeTag(Operator.BOOLEAN, "sub", ("if-exists", "equals", "equals"))
    assert str(tag) == "boolean-sub[equals,if-exists]"
    assert parse_tag(str(tag)) == tag


@pytest.mark.parametrize(("resources", "duplicates", "dummies"), [(("a", "a"), 1, 1), ((), -1, 0), ((), 0, -1)])
def test_nonsense_is_refused(resources, duplicates, dummies):
    with pytest.raises(GraphError):
        SpecialTokens(resources, duplicates, dummies)


@given(span_graphs(), st.randoms())
def test_the_order_in_which_nodes_are_given_does_not_matter(graph, random):
    order = list(range(graph.root))
    random.shuffle(order)
    order.append(graph.root)
    place = {old: new for new, old in enumerate(order)}
    shuffled = SpanGraph(
        graph.tokens,
        tuple(graph.nodes[node] for node in order),
        tuple(SpanEdge(place[edge.source], place[edge.target], edge.tag) for edge in graph.edges),
    )
    if len(set(graph.nodes)) == len(graph.nodes):
        assert shuffled == graph
    assert shuffled.nodes == graph.nodes


@pytest.mark.parametrize(
    ("nodes", "edges", "reason"),
    [
        ([], [], "there is no node"),
        ([(3,)], [], "no word at position 3"),
        ([(0,)], [(0, 1, "filter-sub")], "nodes that do not exist"),
        ([(0,), (1,)], [(0, 1, "filter-sub"), (1, 0, "filter-sub")], "no root"),
        ([(0,), (1,), (2,)], [(0, 1, "filter-sub"), (1, 0, "filter-sub"), (2, 1, "filter-sub")], "cycle"),
        ([(0,), (1,), (2,)], [(2, 0, "filter-sub"), (2, 1, "group-key[count]")], "node|step 3: two operators"),
    ],
)
def test_graphs_that_mean_nothing_are_no_values(nodes, edges, reason):
    with pytest.raises(GraphError, match=reason):
        span_graph(nodes, *edges, tokens=("small", "red", "cubes"))


def test_edges_are_sorted_and_each_is_there_once():
    found = graph((1, 0, "span"), (0, 1, "span"), (1, 0, "span"))
    assert found.edges == (Edge(0, 1, "span"), Edge(1, 0, "span"))


def test_a_pair_with_several_tags_has_one_label():
    assert graph((1, 0, "group-value"), (1, 0, "group-key")).labels() == {(1, 0): "group-key&group-value"}


@pytest.mark.parametrize(
    ("tokens", "edges", "reason"),
    [
        (("a", ""), (), "position 1 is empty or contains a space"),
        (("a", "b c"), (), "position 1 is empty or contains a space"),
        (("a", "[DUP]", "[RSC]"), (), "a question may not contain"),
        (("a", "[RSC]", "size", "[RSC]"), (), "a question may not contain"),
        (("a", "[RSC]", "[DUP]", "size"), (), "may follow the resource words"),
        (("a",), ((0, 1, "span"),), "0 → 1: there are 1 tokens"),
        (("a",), ((0, 0, "one two"),), "not a tag"),
        (("a",), ((0, 0, "one|two"),), "not a tag"),
    ],
)
def test_what_is_no_graph_at_all_is_refused(tokens, edges, reason):
    with pytest.raises(GraphError, match=reason):
        graph(*edges, tokens=tokens)


@pytest.mark.parametrize("read", [dependency_graph_from_json, span_graph_from_json])
@pytest.mark.parametrize(
    "value",
    [
        *([], {}, None, {"tokens": ["a"]}, {"tokens": 3}, {"tokens": ["a"], "edges": [[0]]}),
        {"tokens": ["a"], "edges": [[0, 0, "t", "x"]]},
        {"tokens": ["a"], "nodes": [[0]], "edges": [[1]]},
    ],
)
def test_json_that_is_no_graph_is_our_error(read, value):
    with pytest.raises(GraphError):
        read(value)


HUGE = "9" * 5000


@given(dependency_graphs())
@example(DependencyGraph(('"hi"', "a\\b", "_", "#"), (Edge(2, 0, "filter-sub"),)))
def test_dependency_graphs_read_back(graph):
    assert codecs.parse_dot(codecs.format_dot(graph)) == graph
    assert codecs.parse_conllu(codecs.format_conllu(graph)) == graph
    in_json = json.loads(json.dumps(dependency_graph_to_json(graph)))
    in_networkx = codecs.dependency_graph_to_networkx(graph)
    for again in (codecs.dependency_graph_from_networkx(in_networkx), dependency_graph_from_json(in_json)):
        assert again == graph
        assert [edge.score for edge in again.edges] == [edge.score for edge in graph.edges]


@given(span_graphs())
def test_span_graphs_read_back(graph):
    assert codecs.parse_span_dot(codecs.format_span_dot(graph)) == graph
    assert codecs.span_graph_from_networkx(codecs.span_graph_to_networkx(graph)) == graph
    assert span_graph_from_json(json.loads(json.dumps(span_graph_to_json(graph)))) == graph


@pytest.mark.parametrize(
    ("parse", "text", "reason"),
    [
        (codecs.parse_dot, "graph {}", "expected 'digraph dependency_graph {'"),
        (codecs.parse_dot, 'digraph dependency_graph {\n1 [label="a"];\n}', "line 2: expected node 0, got 1"),
        (codecs.parse_dot, "digraph dependency_graph {\na -> b\n}", "line 2 is neither a node nor an edge"),
        (codecs.parse_dot, f'digraph dependency_graph {{\n{HUGE} [label="a"];\n}}', "line 2 is neither"),
        (codecs.parse_dot, f'digraph dependency_graph {{\n0 -> {HUGE} [label="span"];\n}}', "line 2 is neither"),
        (codecs.parse_span_dot, 'digraph span_graph {\n0 [label="a"];\n}', "a comment with all tokens"),
        (codecs.parse_span_dot, 'digraph span_graph {\n// a b\n0 [label="a", tokens="x"];\n}', "tokens for each node"),
        (codecs.parse_conllu, "1\ta", "line 1: expected 10 columns, got 2"),
        (codecs.parse_conllu, "\t".join(["2", "a", *["_"] * 8]), "line 1: expected token 1, got '2'"),
        (codecs.parse_conllu, "\t".join(["1", "a", *["_"] * 6, "span", "_"]), "expected head:tag, got 'span'"),
    ],
)
def test_what_is_not_ours_says_where(parse, text, reason):
    with pytest.raises(GraphError, match=reason):
        parse(text)


def test_a_networkx_graph_that_is_not_ours_says_why():
    for node, reason in (("a", "numbers from 0 on"), (0, "no attribute 'token'")):
        graph = networkx.MultiDiGraph()
        graph.add_node(node)
        with pytest.raises(GraphError, match=reason):
            codecs.dependency_graph_from_networkx(graph)
