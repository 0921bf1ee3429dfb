from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given

from qdecomp.data_structures.conversion.sdg_to_dg import placeholders_needed, to_dependency_graph, to_span_graph
from qdecomp.data_structures.dependency_graph import DependencyGraph, Edge
from qdecomp.data_structures.edge_tags import parse_tag
from qdecomp.data_structures.errors import GraphError, QDecompError
from qdecomp.data_structures.span_graph import SpanEdge, SpanGraph
from qdecomp.data_structures.special_tokens import SpecialTokens
from tests.data_structures.graph_strategies import SPECIAL, dependency_graphs, span_graphs

FEW = SpecialTokens(("size",), duplicates=2, dummies=2)
QUESTION = ("how", "many", "small", "red", "cubes")


def span_graph(nodes, *edges, question=QUESTION, special=FEW):
    return SpanGraph(
        (*question, *special.words), tuple(nodes), tuple(SpanEdge(s, t, parse_tag(tag)) for s, t, tag in edges)
    )


def graph(*edges, question=QUESTION, special=FEW):
    return DependencyGraph((*question, *special.appended), tuple(Edge(*edge) for edge in edges))


# Positions of the special tokens behind the five words of QUESTION.
SIZE, DUP_1, DUP_2, DUM_1, DUM_2 = 6, 7, 8, 9, 10


@given(span_graphs())
def test_what_goes_to_a_dependency_graph_comes_back(sdg):
    assert to_span_graph(to_dependency_graph(sdg, SPECIAL)) == sdg


@given(span_graphs())
def test_the_number_of_placeholders_is_known_before(sdg):
    duplicates, dummies = placeholders_needed(sdg)
    exact = SpecialTokens(SPECIAL.resources, duplicates, dummies)
    assert to_span_graph(to_dependency_graph(sdg, exact)) == sdg
    if duplicates or dummies:
        fewer = SpecialTokens(SPECIAL.resources, max(duplicates - 1, 0), max(dummies - 1, 0))
        with pytest.raises(GraphError, match="too few"):
            to_dependency_graph(sdg, fewer)


@given(dependency_graphs())
def test_any_graph_gives_a_value_or_our_error(dg):
    special = SpecialTokens(SPECIAL.resources, 20, 20)
    with suppress(QDecompError):
        sdg = to_span_graph(dg)
        assert to_span_graph(to_dependency_graph(sdg, special)) == sdg


@pytest.mark.parametrize(
    ("nodes", "references", "edges"),
    [
        # the rightmost token stands for a node
        (
            [(4,), (2, 3), (1,)],
            [(1, 0, "filter-sub"), (2, 1, "aggregate-arg[count]")],
            [(2, 3, "span"), (3, 4, "filter-sub"), (1, 3, "aggregate-arg[count]")],
        ),
        # a node without tokens takes a dummy
        ([(4,), ()], [(1, 0, "aggregate-arg[count]")], [(DUM_1, 4, "aggregate-arg[count]")]),
        # a step that nothing uses hangs on the root
        ([(2,), (4,), (3,)], [(2, 1, "filter-sub")], [(3, 4, "filter-sub"), (3, 2, "unused")]),
    ],
)
def test_the_edges_of_a_span_graph(nodes, references, edges):
    assert to_dependency_graph(span_graph(nodes, *references), FEW) == graph(*edges)


def test_a_shared_token_stays_with_the_first_node_and_the_others_copy_it():
    sdg = span_graph([(4,), (3, 4), (2, 4), ()], (3, 1, "union-sub"), (3, 2, "union-sub"), (3, 0, "union-sub"))
    assert to_dependency_graph(sdg, FEW) == graph(
        # Nodes of one level are in the order of their positions: (2, 4), (3, 4), (4,).
        (2, 4, "span"),
        (3, DUP_1, "span"),
        (DUP_1, 4, "duplicate"),
        (DUP_2, 4, "duplicate"),
        (DUM_1, 4, "union-sub"),
        (DUM_1, DUP_1, "union-sub"),
        (DUM_1, DUP_2, "union-sub"),
    )


def test_a_single_token_that_is_the_whole_decomposition_takes_a_dummy():
    sdg = span_graph([(4,)])
    assert to_dependency_graph(sdg, FEW) == graph((4, DUM_1, "span"))
    with pytest.raises(GraphError, match="no token in the question"):
        to_dependency_graph(span_graph([()]), FEW)


@pytest.mark.parametrize(
    ("edges", "reason"),
    [
        ([], "there is no edge"),
        ([(3, 4, "filter-sub"), (3, 2, "project-sub")], "two operators on one node: project-sub and filter-sub"),
        ([(3, 4, "aggregate-arg[max]"), (3, 2, "aggregate-arg[min]")], "two operators on one node"),
        ([(3, 4, "filter-sub"), (4, 3, "filter-sub")], "no root"),
        ([(2, 3, "filter-sub"), (3, 4, "filter-sub"), (4, 3, "filter-sub")], "cycle"),
        ([(3, 4, "filter-sub"), (1, 2, "filter-sub")], "2 roots: nothing refers to the nodes of tokens 1 'many', 3"),
        ([(2, 3, "span"), (2, 4, "filter-sub")], "token 2 'small', which is not the last of its node"),
        ([(2, 3, "span"), (2, 4, "span")], "two span edges on one side of token 2 'small'"),
        ([(1, 3, "span"), (2, 3, "span")], "two span edges on one side of token 3 'red'"),
        ([(4, 3, "span")], "span edges go to the right"),
        ([(3, 3, "filter-sub")], "from a token to itself"),
        ([(5, 3, "filter-sub")], "the separator takes part in no edge"),
        ([(DUP_1, 3, "filter-sub")], "copies no token"),
        ([(2, 3, "duplicate")], r"must go from a \[DUP\] to a word"),
        ([(DUP_1, DUM_1, "duplicate")], r"must go from a \[DUP\] to a word"),
        ([(3, 4, "fly-sub")], "there is no operator 'fly'"),
        ([(3, 4, "filter-left")], "filter has no argument 'left'"),
        ([(3, 4, "filter-sub[max]")], "filter has no property 'max'"),
        ([(3, 4, "sub")], "expected operator-argument"),
        ([(3, 4, "filter-sub"), (4, 2, "unused")], "which is not the root"),
        ([(3, 4, "filter-sub"), (3, 4, "unused")], "which is used"),
    ],
)
def test_graphs_that_mean_nothing_say_why(edges, reason):
    with pytest.raises(GraphError, match=reason):
        to_span_graph(graph(*edges))
