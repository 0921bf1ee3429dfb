"""Span graphs and dependency graphs as values, their tags and special tokens, and their other forms."""

from __future__ import annotations

import json
from contextlib import suppress

import networkx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from qdecomp.data_structures.dependency_graph import (
    DependencyGraph,
    Edge,
    dependency_graph_from_json,
    dependency_graph_to_json,
)
from qdecomp.data_structures.edge_tags import (
    STRUCTURAL_TAGS,
    EdgeTag,
    format_tag,
    parse_tag,
    tag_vocabulary,
)
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
from qdecomp.data_structures.operators import Operator
from qdecomp.data_structures.span_graph import SpanEdge, SpanGraph, span_graph_from_json, span_graph_to_json
from qdecomp.data_structures.special_tokens import SpecialTokens
from tests.data_structures.graph_strategies import dependency_graphs, span_graphs
from tests.data_structures.reading_back import assert_reads_back_or_is_refused


def test_every_tag_of_the_vocabulary_reads_back():
    tags = [tag for tag in tag_vocabulary() if tag not in STRUCTURAL_TAGS]
    assert [format_tag(parse_tag(tag)) for tag in tags] == tags


def test_properties_are_sorted_and_each_is_there_once():
    tag = EdgeTag(Operator.BOOLEAN, "sub", ("if-exists", "equals", "equals"))
    assert str(tag) == "boolean-sub[equals,if-exists]"
    assert parse_tag(str(tag)) == tag


@given(st.text())
def test_any_text_is_a_tag_or_our_error(text):
    with suppress(GraphError):
        assert parse_tag(str(parse_tag(text))) == parse_tag(text)


@pytest.mark.parametrize(("resources", "duplicates", "dummies"), [(("a", "a"), 1, 1), ((), -1, 0), ((), 0, -1)])
def test_nonsense_is_refused(resources, duplicates, dummies):
    with pytest.raises(GraphError):
        SpecialTokens(resources, duplicates, dummies)


WORDS = ("small", "red", "cubes")


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
        SpanGraph(WORDS, tuple(nodes), tuple(SpanEdge(s, t, parse_tag(tag)) for s, t, tag in edges))


def test_edges_are_sorted_and_each_is_there_once():
    graph = DependencyGraph(("a", "b"), (Edge(1, 0, "span"), Edge(0, 1, "span"), Edge(1, 0, "span")))
    assert graph.edges == (Edge(0, 1, "span"), Edge(1, 0, "span"))


def test_a_pair_with_several_tags_has_one_label():
    graph = DependencyGraph(("a", "b"), (Edge(1, 0, "group-value"), Edge(1, 0, "group-key")))
    assert graph.labels() == {(1, 0): "group-key&group-value"}


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
        DependencyGraph(tokens, tuple(Edge(*edge) for edge in edges))


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
    assert parse_dot(format_dot(graph)) == graph
    assert parse_conllu(format_conllu(graph)) == graph
    in_json = json.loads(json.dumps(dependency_graph_to_json(graph)))
    for again in (
        dependency_graph_from_networkx(dependency_graph_to_networkx(graph)),
        dependency_graph_from_json(in_json),
    ):
        assert again == graph
        assert [edge.score for edge in again.edges] == [edge.score for edge in graph.edges]


@given(span_graphs())
def test_span_graphs_read_back(graph):
    assert parse_span_dot(format_span_dot(graph)) == graph
    assert span_graph_from_networkx(span_graph_to_networkx(graph)) == graph
    assert span_graph_from_json(json.loads(json.dumps(span_graph_to_json(graph)))) == graph


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
        (parse_dot, f'digraph dependency_graph {{\n{HUGE} [label="a"];\n}}', "line 2 is neither"),
        (parse_dot, f'digraph dependency_graph {{\n0 -> {HUGE} [label="span"];\n}}', "line 2 is neither"),
        (parse_span_dot, 'digraph span_graph {\n0 [label="a"];\n}', "a comment with all tokens"),
        (parse_span_dot, 'digraph span_graph {\n// a b\n0 [label="a", tokens="x"];\n}', "tokens for each node"),
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
