from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given

from qdecomp.data_structures.conversion.sdg_to_dg import (
    placeholders_needed,
    project,
    to_dependency_graph,
    to_span_graph,
)
from qdecomp.data_structures.errors import GraphError, QDecompError
from qdecomp.data_structures.special_tokens import SpecialTokens
from tests.data_structures.graph_strategies import (
    DUM_1,
    DUP_1,
    DUP_2,
    FEW,
    SEPARATOR,
    SPECIAL,
    dependency_graphs,
    graph,
    span_graph,
    span_graphs,
)


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
        # a shared token stays with the first node, in the order (2, 4), (3, 4), (4,), and the others copy it
        (
            [(4,), (3, 4), (2, 4), ()],
            [(3, 1, "union-sub"), (3, 2, "union-sub"), (3, 0, "union-sub")],
            [
                *[(2, 4, "span"), (3, DUP_1, "span"), (DUP_1, 4, "duplicate"), (DUP_2, 4, "duplicate")],
                *[(DUM_1, token, "union-sub") for token in (4, DUP_1, DUP_2)],
            ],
        ),
        # a single token that is the whole decomposition takes a dummy
        ([(4,)], [], [(4, DUM_1, "span")]),
    ],
)
def test_the_edges_of_a_span_graph(nodes, references, edges):
    assert to_dependency_graph(span_graph(nodes, *references), FEW) == graph(*edges)


def test_a_decomposition_without_any_token_has_no_graph():
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


@pytest.mark.parametrize(
    ("edges", "nodes", "references"),
    [
        # a fork, a span edge to the left, a needless one, and references at any token of a node
        *(
            ([*spans, (1, token, "aggregate-arg[count]")], ((2, 3, 4), (1,)), {(1, 0, "aggregate-arg[count]")})
            for token in (2, 3, 4)
            for spans in (
                [(2, 3, "span"), (3, 4, "span")],
                [(2, 4, "span"), (3, 4, "span")],
                [(4, 3, "span"), (2, 4, "span")],
                [(2, 3, "span"), (3, 4, "span"), (2, 4, "span")],
            )
        ),
        # several roots, and an edge within a node
        (
            [(2, 3, "span"), (3, 2, "filter-sub"), (1, 4, "aggregate-arg[count]")],
            ((4,), (1,), (2, 3)),
            {(1, 0, "aggregate-arg[count]")},
        ),
        # special tokens have no words
        (
            [(3, DUM_1, "filter-sub"), (1, 3, "union-sub"), (1, SEPARATOR, "union-sub")],
            ((), (), (3,), (1,)),
            {(2, 1, "filter-sub"), (3, 0, "union-sub"), (3, 2, "union-sub")},
        ),
        # of several properties, those of the first edge count
        (
            [(1, 3, "comparison-arg[max]"), (1, 4, "comparison-arg[min]")],
            ((3,), (4,), (1,)),
            {(2, 0, "comparison-arg[max]"), (2, 1, "comparison-arg[max]")},
        ),
    ],
)
def test_what_the_projection_reads_softly(edges, nodes, references):
    found = project(graph(*edges))
    assert found.nodes == nodes
    assert {(edge.source, edge.target, str(edge.tag)) for edge in found.edges} == references


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([], "there is no edge"),
        # The two tokens are one node.
        ([(2, 3, "span"), (3, 4, "filter-sub"), (2, 1, "project-sub")], "two operators on one node"),
        ([(3, 4, "filter-sub"), (4, 3, "filter-sub")], "no root"),
    ],
)
def test_only_contradictions_cannot_be_projected(edges, message):
    with pytest.raises(GraphError, match=message):
        project(graph(*edges))
