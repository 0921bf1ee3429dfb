from __future__ import annotations

import json

import pytest
from hypothesis import given

from qdecomp.data_structures.dependency_graph import (
    DependencyGraph,
    Edge,
    dependency_graph_from_json,
    dependency_graph_to_json,
)
from qdecomp.data_structures.errors import GraphError
from tests.data_structures.graph_strategies import dependency_graphs


@given(dependency_graphs())
def test_json_reads_back_with_its_scores(graph):
    again = dependency_graph_from_json(json.loads(json.dumps(dependency_graph_to_json(graph))))
    assert again == graph
    assert [edge.score for edge in again.edges] == [edge.score for edge in graph.edges]


def test_edges_are_sorted_and_each_is_there_once():
    graph = DependencyGraph(("a", "b"), (Edge(1, 0, "span"), Edge(0, 1, "span"), Edge(1, 0, "span")))
    assert graph.edges == (Edge(0, 1, "span"), Edge(1, 0, "span"))


def test_a_pair_with_several_tags_has_one_label():
    graph = DependencyGraph(("a", "b"), (Edge(1, 0, "group-value"), Edge(1, 0, "group-key")))
    assert graph.labels() == {(1, 0): "group-key&group-value"}


def test_question_tokens_are_those_before_the_separator():
    graph = DependencyGraph(("a", "b", "[RSC]", "size", "[DUP]", "[DUM]"))
    assert graph.question_tokens == ("a", "b")
    assert graph.words_end == 4


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


@pytest.mark.parametrize(
    "value",
    [None, [], {"tokens": ["a"]}, {"tokens": ["a"], "edges": [[0]]}, {"tokens": ["a"], "edges": [[0, 0, "t", "x"]]}],
)
def test_json_that_is_no_graph_is_our_error(value):
    with pytest.raises(GraphError):
        dependency_graph_from_json(value)
