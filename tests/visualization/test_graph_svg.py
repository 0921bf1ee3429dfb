from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given, settings

from qdecomp.data_structures.dependency_graph import DependencyGraph, Edge
from qdecomp.visualization import graph_svg
from tests.data_structures.graph_strategies import dependency_graphs
from tests.visualization.examples import GRAPHS, HOSTILE, MARKUP, SPECIAL_TOKENS, TWO_EDGES

_SVG = "{http://www.w3.org/2000/svg}"


def of_class(picture: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [element for element in picture.iter() if name in (element.get("class") or "").split()]


@settings(deadline=None)
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


def test_words_stand_in_their_order_and_special_tokens_have_a_frame() -> None:
    picture = ElementTree.fromstring(graph_svg(SPECIAL_TOKENS))
    words = of_class(picture, "qd-word")
    assert [word.text for word in words] == ["red", "cubes", "and", "balls", "flights", "[DUP]", "[DUM]"]
    places = [float(word.get("x", "")) for word in words]
    assert places == sorted(places)
    assert len(of_class(picture, "qd-special")) == 3


def test_arcs_have_the_colour_of_their_operator() -> None:
    picture = ElementTree.fromstring(graph_svg(TWO_EDGES))
    kinds = [(arc.get("class") or "").split()[1] for arc in of_class(picture, "qd-arc")]
    assert sorted(kinds) == ["qd-comparison", "qd-comparison", "qd-filter", "qd-group", "qd-span"]


def test_no_two_arcs_have_the_same_path() -> None:
    paths = [line.get("d") for line in of_class(ElementTree.fromstring(graph_svg(TWO_EDGES)), "qd-line")]
    assert len(set(paths)) == len(paths) == 5


def test_markup_in_words_and_tags_is_escaped_and_long_words_are_cut() -> None:
    picture = graph_svg(MARKUP)
    assert "<script" not in picture
    assert "<b>" not in picture
    words = of_class(ElementTree.fromstring(picture), "qd-word")
    assert words[1].text == HOSTILE
    assert (words[4].text or "").endswith("a…")


def test_probabilities_are_in_the_tip_and_on_demand_in_the_label() -> None:
    graph = DependencyGraph(("red", "cubes"), (Edge(0, 1, "filter-sub", 0.734),))
    assert "red → cubes: filter-sub, probability 0.73<" in graph_svg(graph)
    assert ">filter-sub<" in graph_svg(graph)
    assert ">filter-sub 0.73<" in graph_svg(graph, scores=True)


def test_the_style_can_be_left_to_the_page() -> None:
    assert "<style" not in graph_svg(TWO_EDGES, with_style=False)
    assert graph_svg(TWO_EDGES, title="<what>").count("&lt;what&gt;") == 1
