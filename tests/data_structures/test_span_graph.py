from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdecomp.data_structures.edge_tags import parse_tag
from qdecomp.data_structures.errors import GraphError
from qdecomp.data_structures.operators import Operator
from qdecomp.data_structures.span_graph import SpanEdge, SpanGraph, span_graph_from_json, span_graph_to_json
from tests.data_structures.graph_strategies import span_graphs

FILTER = parse_tag("filter-sub")
WORDS = ("small", "red", "cubes")


@given(span_graphs())
def test_json_reads_back(graph):
    assert span_graph_from_json(json.loads(json.dumps(span_graph_to_json(graph)))) == graph


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


def test_what_a_graph_says_of_its_nodes():
    graph = SpanGraph(WORDS, ((1,), (2,), (0,)), (SpanEdge(0, 1, FILTER), SpanEdge(2, 0, FILTER)))
    assert [graph.words(node) for node in range(3)] == [("cubes",), ("red",), ("small",)]
    assert [graph.signature(node)[0] for node in range(3)] == [Operator.SELECT, Operator.FILTER, Operator.FILTER]
    assert graph.root == 2
    assert graph.unused == ()
    assert graph.outgoing(1) == (SpanEdge(1, 0, FILTER),)


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


@pytest.mark.parametrize("value", [[], {}, {"tokens": ["a"], "nodes": [[0]], "edges": [[1]]}, {"tokens": 3}, None])
def test_json_that_is_no_graph_is_our_error(value):
    with pytest.raises(GraphError):
        span_graph_from_json(value)
