from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given

from qdecomp.data_structures.dependency_graph import DependencyGraph, Edge
from qdecomp.visualization import graph_svg
from tests.data_structures.graph_strategies import dependency_graphs
from tests.visualization.examples import GRAPHS, HOSTILE, MARKUP, graph_of

_SVG = "{http://www.w3.org/2000/svg}"


def of_class(picture: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [element for element in picture.iter() if name in (element.get("class") or "").split()]


@given(dependency_graphs())
def test_any_graph_is_well_formed_with_an_arc_and_a_label_for_every_edge(graph: DependencyGraph) -> None:
    picture = ElementTree.fromstring(graph_svg(graph))
    assert len(of_class(picture, "qd-arc")) == len(graph.edges)
    labels = [label.text for label in of_class(picture, "qd-label")]
    assert sorted(labels) == sorted(edge.tag for edge in graph.edges)


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS.keys())
def test_a_picture_stands_alone(graph: DependencyGraph) -> None:
    picture = ElementTree.fromstring(graph_svg(graph))
    assert picture.tag == f"{_SVG}svg"
    assert picture.get("role") == "img"
    assert picture.get("viewBox") == f"0 0 {picture.get('width')} {picture.get('height')}"
    assert picture[0].tag == f"{_SVG}title"
    assert picture[0].text == f"Dependency graph: {' '.join(graph.question_tokens)}"
    assert picture.find(f"{_SVG}style") is not None


def test_markup_in_words_and_tags_is_escaped_and_long_words_are_cut() -> None:
    picture = graph_svg(MARKUP)
    assert "<script" not in picture
    assert "<b>" not in picture
    words = of_class(ElementTree.fromstring(picture), "qd-word")
    assert words[1].text == HOSTILE
    assert (words[4].text or "").endswith("a…")


def test_probabilities_are_in_the_tip() -> None:
    graph = DependencyGraph(("red", "cubes"), (Edge(0, 1, "filter-sub", 0.734),))
    assert "red → cubes: filter-sub, probability 0.73<" in graph_svg(graph)
    assert ">filter-sub<" in graph_svg(graph)


@pytest.mark.parametrize("width", [350, 1000])
@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS.keys())
def test_a_graph_is_wrapped_to_a_width(graph: DependencyGraph, width: int) -> None:
    whole, wrapped = graph_svg(graph), graph_svg(graph, width=width)
    if whole.width <= width:
        assert wrapped == whole
        return
    words = [word for word in graph.tokens if not word.startswith("[")]
    if max(map(len, words)) < 20:
        assert wrapped.width <= width
    picture = ElementTree.fromstring(wrapped)
    edges = {f"{graph.tokens[edge.head]} → {graph.tokens[edge.dependent]}: {edge.tag}" for edge in graph.edges}
    assert {arc[0].text for arc in of_class(picture, "qd-arc")} == edges


def test_words_without_edges_are_folded_where_there_is_little_room() -> None:
    picture = graph_svg(graph_of("which of the red cubes", (3, 4, "filter-sub")), width=200)
    texts = [word.text for word in of_class(ElementTree.fromstring(picture), "qd-word")]
    assert texts == ["…", "red", "cubes"]
    assert "<title>which of the</title>" in picture
