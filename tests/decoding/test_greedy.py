from __future__ import annotations

import numpy as np
import pytest

from qdecomp.data_structures.dependency_graph import DependencyGraph
from qdecomp.data_structures.errors import GraphError
from qdecomp.decoding.greedy import GreedyDecoder, GreedyValidDecoder
from tests.decoding.decoding_examples import LABELS, TOKENS, means_something, problem, random_problem


def test_edges_that_are_more_probable_than_not_get_their_best_label():
    found = problem((3, 4, "filter-sub", 0.9), (1, 3, "aggregate-arg[count]", 0.51), (2, 3, "span", 0.5))
    graph = GreedyDecoder().decode(*found.arguments).graph
    assert [(edge.head, edge.dependent, edge.tag) for edge in graph.edges] == [
        (1, 3, "aggregate-arg[count]"),
        (3, 4, "filter-sub"),
    ]
    assert [edge.score for edge in graph.edges] == pytest.approx([0.51, 0.9], abs=1e-3)


def test_nothing_keeps_a_greedy_graph_from_being_invalid():
    found = problem((3, 3, "span", 0.9), (4, 3, "nonsense", 0.9))
    edges = GreedyDecoder().decode(*found.arguments).graph.edges
    assert [(edge.head, edge.dependent, edge.tag) for edge in edges] == [(3, 3, "span"), (4, 3, "nonsense")]


@pytest.mark.parametrize(("tokens", "labels"), [((), LABELS), (("cubes",), LABELS), (TOKENS, ())])
def test_where_there_are_no_edges_the_graph_is_empty(tokens, labels):
    found = problem(tokens=tokens, labels=labels)
    decoded = GreedyDecoder().decode(*found.arguments)
    assert decoded.graph == DependencyGraph(tokens)
    assert decoded.score == pytest.approx(len(tokens) ** 2 * np.log(0.999))


def test_of_two_edges_that_contradict_each_other_the_more_probable_one_stays():
    found = problem((3, 4, "filter-sub", 0.9), (3, 2, "project-sub", 0.6), (1, 3, "aggregate-arg[count]", 0.8))
    decoded = GreedyValidDecoder().decode(*found.arguments)
    assert [(edge.head, edge.dependent) for edge in decoded.graph.edges] == [(1, 3), (3, 4)]
    assert (decoded.method, decoded.optimal) == ("repair", True)
    assert "one operator" in decoded.broken


def test_a_valid_greedy_graph_stays_as_it_is():
    found = problem((3, 4, "filter-sub", 0.9), (1, 3, "aggregate-arg[count]", 0.8))
    assert GreedyValidDecoder().decode(*found.arguments) == GreedyDecoder().decode(*found.arguments)


@pytest.mark.parametrize("seed", range(20))
def test_what_is_left_of_any_graph_means_something(seed):
    found = random_problem(np.random.default_rng(seed), TOKENS, LABELS, pairs=30)
    assert means_something(GreedyValidDecoder().decode(*found.arguments).graph)


def test_where_no_graph_is_valid_the_error_says_so():
    with pytest.raises(GraphError, match="no valid graph"):
        GreedyValidDecoder().decode(*problem(tokens=("cubes",)).arguments)
