from __future__ import annotations

import numpy as np
import pytest

from qdecomp.data_structures.dependency_graph import DependencyGraph
from qdecomp.decoding.greedy import GreedyDecoder
from tests.decoding.decoding_examples import LABELS, TOKENS, problem


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
    assert len(GreedyDecoder().decode(*found.arguments).graph.edges) == 2


@pytest.mark.parametrize(("tokens", "labels"), [((), LABELS), (("cubes",), LABELS), (TOKENS, ())])
def test_where_there_are_no_edges_the_graph_is_empty(tokens, labels):
    found = problem(tokens=tokens, labels=labels)
    decoded = GreedyDecoder().decode(*found.arguments)
    assert decoded.graph == DependencyGraph(tokens)
    assert decoded.score == pytest.approx(len(tokens) ** 2 * np.log(0.999))
