from __future__ import annotations

import pytest
from hypothesis import given

from qdecomp.data_structures.alignment import Alignment
from qdecomp.data_structures.conversion.lf_to_sdg import (
    logical_form_from_span_graph,
    span_graph_from_logical_form,
)
from qdecomp.data_structures.conversion.qdmr_to_lf import to_qdmr
from qdecomp.data_structures.edge_tags import parse_tag
from qdecomp.data_structures.errors import GraphError, QDecompError
from qdecomp.data_structures.logical_form import parse_logical_form
from qdecomp.data_structures.span_graph import SpanEdge, SpanGraph
from tests.data_structures.graph_strategies import span_graphs

WORDS = ("how", "many", "red", "cubes", "balls", "100", "name")


def graph(nodes, *edges):
    return SpanGraph(WORDS, tuple(nodes), tuple(SpanEdge(s, t, parse_tag(tag)) for s, t, tag in edges))


def test_edges_come_from_the_references_of_the_logical_form():
    form = parse_logical_form(
        [
            "SELECT[](sub=cubes)",
            "SELECT[](sub=balls)",
            "GROUP[count](key=#1, value=#2)",
            "FILTER[](sub=#3, condition=red)",
        ]
    )
    expected = graph(
        [(3,), (4,), (1,), (2,)], (2, 0, "group-key[count]"), (2, 1, "group-value[count]"), (3, 2, "filter-sub")
    )
    assert span_graph_from_logical_form(form, Alignment(((3,), (4,), (1,), (2,))), WORDS) == expected


@pytest.mark.parametrize(
    ("nodes", "edges", "last"),
    [
        ([(3,), (2,)], [(1, 0, "filter-sub")], "FILTER[](sub=#1, condition=red)"),
        ([(3,), (6,)], [(1, 0, "project-sub")], "PROJECT[](sub=#1, projection=name of)"),
        ([(3,), (1,)], [(1, 0, "aggregate-arg[count]")], "AGGREGATE[count](arg=#1)"),
        ([(3,), (5,)], [(1, 0, "arithmetic-right[diff]")], "ARITHMETIC[diff](left=100, right=#1)"),
        ([(3,), (5,)], [(1, 0, "arithmetic-left[diff]")], "ARITHMETIC[diff](left=#1, right=100)"),
        ([(3,), (5,)], [(1, 0, "arithmetic-arg[sum]")], "ARITHMETIC[sum](arg=#1, arg=100)"),
        ([(3,), (4,)], [(1, 0, "discard-sub")], "DISCARD[](sub=#1, exclude=balls)"),
        ([(3,), (4,)], [(1, 0, "discard-exclude")], "DISCARD[](sub=balls, exclude=#1)"),
        ([(3,), (6,)], [(1, 0, "group-key")], "GROUP[](key=#1, value=name)"),
        ([(3,), (6,)], [(1, 0, "sort-sub")], "SORT[](sub=#1, order=name)"),
        ([(3,), (4,), ()], [(2, 0, "union-sub"), (2, 1, "union-sub")], "UNION[](sub=#1, sub=#2)"),
        (
            [(3,), (4,), (5,)],
            [(2, 0, "comparative-sub[more]"), (2, 1, "comparative-attribute[more]")],
            "COMPARATIVE[more](sub=#1, attribute=#2, condition=100)",
        ),
        (
            [(3,), (4,), (2,)],
            [(2, 0, "comparative-sub"), (2, 1, "comparative-attribute")],
            "COMPARATIVE[](sub=#1, attribute=#2, condition=is red)",
        ),
        (
            [(3,), (4,), (2,)],
            [(2, 0, "filter-sub"), (2, 1, "filter-condition")],
            "FILTER[](sub=#1, condition=red #2)",
        ),
        (
            [(3,), (4,), (6,)],
            [(2, 0, "intersection-intersect"), (2, 1, "intersection-intersect")],
            "INTERSECTION[](intersect=#1, intersect=#2, projection=name)",
        ),
    ],
)
def test_words_go_to_the_argument_without_reference(nodes, edges, last):
    assert str(logical_form_from_span_graph(graph(nodes, *edges)).steps[-1]) == last


@pytest.mark.parametrize(
    ("nodes", "edges", "reason"),
    [
        ([(), (2,)], [(1, 0, "filter-sub")], "step 1: select needs sub; it has 0"),
        ([(3,), (2,)], [(1, 0, "filter-condition")], "step 2: filter needs sub; it has 0"),
        ([(3,), ()], [(1, 0, "union-sub")], "step 2: union needs 2 times sub; it has 1"),
        ([(3,), ()], [(1, 0, "superlative-sub[max]")], "step 2: superlative needs attribute; it has 0"),
        ([(3,), ()], [(1, 0, "arithmetic-left[diff]")], "step 2: arithmetic needs 2 operands"),
    ],
)
def test_a_missing_argument_is_our_error(nodes, edges, reason):
    with pytest.raises(GraphError, match=reason):
        logical_form_from_span_graph(graph(nodes, *edges))


@given(span_graphs())
def test_any_span_graph_has_a_logical_form_and_a_text_or_gives_our_error(sdg):
    try:
        form = logical_form_from_span_graph(sdg)
    except QDecompError:
        return
    assert len(form) == len(sdg.nodes)
    edges = {
        SpanEdge(number, target - 1, parse_tag(f"{step.operator}-{argument.name}" + properties_of(step)))
        for number, step in enumerate(form.steps)
        for argument in step.arguments
        for target in argument.references
    }
    assert edges == set(sdg.edges)
    assert len(to_qdmr(form)) == len(form)


def properties_of(step):
    return f"[{','.join(step.properties)}]" if step.properties else ""
