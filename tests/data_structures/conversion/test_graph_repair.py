from __future__ import annotations

import re
from contextlib import suppress

import pytest
from hypothesis import given

from qdecomp.data_structures.conversion.chain import read_graph
from qdecomp.data_structures.conversion.graph_repair import repair
from qdecomp.data_structures.conversion.sdg_to_dg import to_dependency_graph, to_span_graph
from qdecomp.data_structures.errors import GraphError, QDecompError
from tests.data_structures.graph_strategies import DUM_1, DUP_1, SPECIAL, dependency_graphs, graph, span_graphs, triples


@given(span_graphs())
def test_a_graph_without_faults_is_left_alone(sdg):
    dg = to_dependency_graph(sdg, SPECIAL)
    repaired, repairs = repair(dg)
    assert (triples(repaired) != triples(dg)) == bool(repairs)
    # The only thing that can be wrong with a sound graph is a single reference in an argument that cannot stand alone.
    assert all("its only reference" in note for note in repairs)


@given(dependency_graphs())
def test_any_graph_is_read_or_refused_with_our_error(dg):
    with suppress(QDecompError):
        tolerant = read_graph(dg, tolerant=True)
        assert str(tolerant.qdmr).startswith("return ")
        strict = read_graph(dg)
        assert tolerant.repairs or tolerant == strict


@pytest.mark.parametrize(
    ("faulty", "sound", "note"),
    [
        ([(3, 4, "filter-sub"), (3, 3, "filter-sub")], [(3, 4, "filter-sub")], "from a token to itself"),
        ([(3, 4, "filter-sub"), (5, 4, "span")], [(3, 4, "filter-sub")], "the separator takes part in no edge"),
        ([(3, 4, "filter-sub"), (3, 2, "fly-sub")], [(3, 4, "filter-sub")], "there is no operator 'fly'"),
        ([(3, 4, "filter-sub"), (3, 2, "duplicate")], [(3, 4, "filter-sub")], r"must go from a \[DUP\] to a word"),
        (
            [(3, 2, "span"), (3, 4, "filter-sub")],
            [(2, 3, "span"), (3, 4, "filter-sub")],
            "one chain from left to right",
        ),
        (
            [(1, 3, "span"), (2, 3, "span"), (3, 4, "filter-sub")],
            [(1, 2, "span"), (2, 3, "span"), (3, 4, "filter-sub")],
            "one chain from left to right",
        ),
        ([(2, 3, "span"), (2, 4, "filter-sub")], [(2, 3, "span"), (3, 4, "filter-sub")], "moved the filter-sub edge"),
        ([(3, DUP_1, "span"), (DUP_1, 4, "filter-sub")], [(3, 4, "filter-sub")], "it copies no token"),
        ([(DUP_1, 4, "aggregate-arg[sum]")], [(DUM_1, 4, "aggregate-arg[sum]")], "it copies no token"),
        (
            [(3, 4, "group-key[count]"), (3, 2, "group-value[count]"), (3, 1, "filter-sub")],
            [(3, 4, "group-key[count]"), (3, 2, "group-value[count]")],
            "most edges of 3 'red' say group",
        ),
        (
            [(3, 4, "filter-sub", 0.9), (3, 4, "project-sub", 0.6)],
            [(3, 4, "filter-sub")],
            "most edges of 3 'red' say filter",
        ),
        (
            [(1, 3, "comparison-arg[max]"), (1, 4, "comparison-arg[max]"), (1, 2, "comparison-arg[min]")],
            [(1, 3, "comparison-arg[max]"), (1, 4, "comparison-arg[max]"), (1, 2, "comparison-arg[max]")],
            "as the others of its node",
        ),
        (
            [(2, 3, "filter-sub", 0.9), (3, 4, "filter-sub", 0.9), (4, 3, "filter-sub", 0.5)],
            [(2, 3, "filter-sub"), (3, 4, "filter-sub")],
            "the weakest of a cycle",
        ),
        (
            [(2, 3, "filter-sub"), (3, 4, "filter-sub"), (0, 1, "span")],
            [(2, 3, "filter-sub"), (3, 4, "filter-sub")],
            "dropped the node of 1 'many'",
        ),
        ([(3, 4, "filter-condition")], [(3, 4, "filter-sub")], "its only reference"),
        (
            [(2, 3, "filter-sub"), (3, 4, "filter-sub"), (3, 2, "unused")],
            [(2, 3, "filter-sub"), (3, 4, "filter-sub")],
            "not from the root to an unused node",
        ),
    ],
)
def test_what_has_one_obvious_reading_is_repaired_and_reported(faulty, sound, note):
    repaired, repairs = repair(graph(*faulty))
    assert repaired == graph(*sound)
    assert len(repairs) == 1
    assert re.search(note, repairs[0])
    to_span_graph(repaired)


@pytest.mark.parametrize(
    ("edges", "reason"),
    [
        ([(3, 4, "filter-sub"), (3, 2, "project-sub")], "two operators"),
        ([(3, 4, "filter-sub", 0.5), (3, 2, "project-sub", 0.5)], "two operators"),
        ([(3, 4, "filter-sub"), (4, 3, "filter-sub")], "no root"),
        ([(3, 4, "filter-sub"), (1, 2, "filter-sub")], "2 roots"),
        ([(DUM_1, 4, "superlative-sub[max]")], "superlative needs attribute"),
        ([(DUM_1, 4, "union-sub")], "union needs 2 times sub"),
        ([(3, DUM_1, "filter-sub")], "select needs sub"),
        ([], "there is no edge"),
    ],
)
def test_what_has_no_obvious_reading_is_an_error(edges, reason):
    with pytest.raises(GraphError, match=reason):
        read_graph(graph(*edges), tolerant=True)
