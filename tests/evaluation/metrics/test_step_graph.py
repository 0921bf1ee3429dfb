from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdecomp.evaluation.metrics.break_text import parse_break_text
from qdecomp.evaluation.metrics.step_graph import StepGraph, graph_of, levels_of, text_of


def _graph(text: str) -> StepGraph:
    return graph_of(parse_break_text(text))


def test_nodes_come_in_the_order_of_the_edges():
    graph = _graph("return a ;return #1 ;return #2 of #1 and #1 ;return d")
    assert list(graph.labels) == [2, 1, 3, 4]
    assert graph.edges == {2: (1,), 1: (), 3: (2, 1), 4: ()}
    assert graph.edge_count == 3


def test_a_reference_to_nothing_is_a_node_without_a_label():
    assert _graph("return #7").labels == {1: " @@7@@", 7: ""}


def test_a_graph_cannot_be_changed():
    labels = {1: "a"}
    graph = StepGraph(labels, {1: ()})
    labels[1] = "b"
    assert graph.labels == {1: "a"}
    with pytest.raises(TypeError):
        graph.labels[1] = "c"


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        ("return a ;return #1 ;return #1 and #2", {1: 0, 2: 1, 3: 2}),
        ("return #2 ;return b", {1: 1, 2: 0}),
        ("return a ;return #2", {1: 0}),
        ("return a ;return #2 and #1", None),
        ("return #2 ;return #1 ;return #1", {}),
        ("return #2 ;return #1 and #3 ;return c", None),
    ],
)
def test_levels(text, levels):
    assert levels_of(_graph(text)) == levels


def test_text_needs_numbers_without_gaps():
    assert text_of({2: "b", 1: "a"}) == "a @@SEP@@ b"
    assert text_of({1: "a", 3: "c"}) is None
    assert text_of({0: "a", 1: "c"}) is None


@given(st.lists(st.lists(st.integers(1, 6), max_size=3), min_size=1, max_size=6))
def test_a_level_is_above_those_of_all_targets_that_have_one(references):
    graph = _graph(";".join("return x " + " ".join(f"#{number}" for number in numbers) for numbers in references))
    levels = levels_of(graph)
    for node, level in (levels or {}).items():
        below = [levels[target] for target in graph.edges[node] if target in levels]
        assert level == max(below, default=-1) + 1
