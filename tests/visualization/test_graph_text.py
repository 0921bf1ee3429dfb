from __future__ import annotations

import pytest
from hypothesis import given

from qdecomp.data_structures.dependency_graph import DependencyGraph, Edge
from qdecomp.visualization import graph_rich, graph_text
from tests.data_structures.graph_strategies import dependency_graphs
from tests.visualization.examples import GRAPHS, LONG, graph_of


def test_arcs_that_cross_and_nest() -> None:
    graph = graph_of("aaaaaaaa b cccccccccccc d", (0, 2, "span"), (1, 3, "duplicate"), (1, 3, "span"))
    assert graph_text(graph).splitlines() == [
        "         ╭──────span──────╮",
        "         │╭──duplicate───╮│",
        "    ╭────┼┼─span──╮      ││",
        "    │    ││       ▼      ▼▼",
        "aaaaaaaa b  cccccccccccc d",
    ]


def test_a_graph_that_is_too_wide_goes_on_in_another_row() -> None:
    graph = DependencyGraph(
        ("red", "cubes", "behind", "balls"), (Edge(0, 1, "filter-sub", 0.5), Edge(1, 3, "filter-sub"))
    )
    assert graph_text(graph, width=32).splitlines() == [
        "  ╭─filter-sub 0.50─▸",
        "  │",
        " red",
        "──filter-sub 0.50─╮╭─filter-sub─▸",
        "                  ▼│",
        "                 cubes",
        "──filter-sub─╮",
        "             ▼",
        "   behind  balls",
    ]


@given(dependency_graphs())
def test_any_graph_is_drawn_with_all_its_edges(graph: DependencyGraph) -> None:
    text = graph_text(graph, width=80)
    assert sum(text.count(head) for head in "▼▸◂") >= len(graph.edges)


def test_a_graph_with_too_many_edges_says_so() -> None:
    graph = DependencyGraph(("a", "b"), tuple(Edge(0, 1, f"tag{number}") for number in range(201)))
    assert graph_text(graph) == "picture: 201 edges to draw; at most 200 are allowed"


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS.keys())
@pytest.mark.parametrize("width", [20, 1000])
def test_the_coloured_text_says_the_same(graph: DependencyGraph, width: int) -> None:
    coloured = graph_rich(graph, width=width)
    assert [line.plain.rstrip() for line in coloured.split("\n")] == graph_text(graph, width=width).split("\n")
    assert any(str(span.style) == "magenta" for span in coloured.spans) == (graph is LONG)


def test_words_cannot_steer_the_terminal() -> None:
    graph = DependencyGraph(("\x1b[2Jred", "cubes"), (Edge(0, 1, "\x9b31m"),))
    for width in (5, 100):
        assert not set(graph_text(graph, width=width)) & {"\x1b", "\x9b"}
