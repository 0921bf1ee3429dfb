from __future__ import annotations

import pytest
from hypothesis import given, settings
from rich.cells import cell_len

from qdecomp.data_structures.dependency_graph import DependencyGraph, Edge
from qdecomp.visualization import graph_rich, graph_text
from tests.data_structures.graph_strategies import dependency_graphs
from tests.visualization.examples import GRAPHS, LONG, SPECIAL_TOKENS, graph_of


def test_arcs_stand_above_the_words() -> None:
    graph = graph_of("how many red cubes are there", (1, 2, "aggregate-arg[count]"), (2, 3, "filter-sub"))
    assert graph_text(graph).splitlines() == [
        "      ╭─aggregate-arg[count]─╮╭─filter-sub─╮",
        "      │                      ▼│            ▼",
        "how many                     red         cubes are there",
    ]


def test_arcs_that_cross_and_nest() -> None:
    graph = graph_of("aaaaaaaa b cccccccccccc d", (0, 2, "span"), (1, 3, "duplicate"), (1, 3, "span"))
    assert graph_text(graph).splitlines() == [
        "         ╭──────span──────╮",
        "         │╭──duplicate───╮│",
        "    ╭────┼┼─span──╮      ││",
        "    │    ││       ▼      ▼▼",
        "aaaaaaaa b  cccccccccccc d",
    ]


def test_special_tokens_stand_apart() -> None:
    assert graph_text(SPECIAL_TOKENS, width=200).splitlines()[-1].split("    ", 1)[1].strip().endswith("[DUM]")


def test_a_short_line_gives_a_table_with_probabilities() -> None:
    graph = DependencyGraph(("red", "面積"), (Edge(0, 1, "filter-sub", 0.5), Edge(1, 0, "span")))
    assert graph_text(graph, width=5).splitlines() == [
        "red 面積",
        "head    dependent  tag         probability",
        "1 red   2 面積     filter-sub         0.50",
        "2 面積  1 red      span",
    ]


@settings(deadline=None)
@given(dependency_graphs())
def test_any_graph_fits_or_is_a_table_of_all_edges(graph: DependencyGraph) -> None:
    lines = graph_text(graph, width=60).split("\n")
    if len(lines) > 1 and lines[1].startswith("head "):
        assert len(lines) == len(graph.edges) + 2
    else:
        assert max(map(cell_len, lines)) <= 60
        assert sum(line.count("▼") for line in lines) >= len(graph.edges)


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS.keys())
@pytest.mark.parametrize("width", [20, 1000])
def test_the_coloured_text_says_the_same(graph: DependencyGraph, width: int) -> None:
    coloured = graph_rich(graph, width=width)
    assert [line.plain.rstrip() for line in coloured.split("\n")] == graph_text(graph, width=width).split("\n")


def test_operators_are_coloured() -> None:
    text = graph_rich(LONG, width=2000)
    assert any(str(span.style) == "magenta" for span in text.spans)


def test_words_cannot_steer_the_terminal() -> None:
    graph = DependencyGraph(("\x1b[2Jred", "cubes"), (Edge(0, 1, "\x9b31m"),))
    for width in (5, 100):
        assert not set(graph_text(graph, width=width)) & {"\x1b", "\x9b"}
