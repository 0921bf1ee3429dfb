from __future__ import annotations

from qdecomp.data_structures.conversion.chain import convert
from qdecomp.parsers.decomposition import decomposition_from_graph, decomposition_from_text, failed_decomposition
from qdecomp.visualization import decomposition_html
from tests.pages import Page
from tests.visualization.examples import HOSTILE

QUESTION = "How many red cubes are there?"
DECOMPOSITION = "return cubes ;return #1 that are red ;return number of #2"


def test_a_graph_is_shown_with_question_steps_and_both_pictures() -> None:
    graph = convert(QUESTION, DECOMPOSITION).graph
    fragment = Page(decomposition_html(QUESTION, decomposition_from_graph(QUESTION, graph, -1.25)))
    assert fragment.open == []
    assert QUESTION in fragment.texts
    assert fragment.count("li") == 3
    assert [attributes["class"] for tag, attributes in fragment.tags if tag == "svg"] == [
        "qdecomp qd-steps",
        "qdecomp qd-graph",
    ]
    assert "score -1.25" in fragment.texts
    assert fragment.count("style") == 1


def test_a_text_without_a_graph_has_the_picture_of_its_steps() -> None:
    fragment = Page(decomposition_html(QUESTION, decomposition_from_text("", DECOMPOSITION)))
    assert fragment.count("svg") == 1
    assert fragment.texts.count("#1 that are red") == 2


def test_errors_are_shown_with_what_there_is() -> None:
    broken = Page(decomposition_html(QUESTION, decomposition_from_text(QUESTION, "return #1")))
    assert "return #1" in broken.texts
    assert "step 1: refers to itself (#1)" in broken.texts
    assert broken.count("svg") == 0
    failed = Page(decomposition_html(QUESTION, failed_decomposition(QUESTION, "too long")))
    assert {"There is no decomposition.", "too long"} <= set(failed.texts)


def test_whatever_comes_from_data_is_escaped() -> None:
    fragment = decomposition_html(HOSTILE, decomposition_from_text(HOSTILE, f"return {HOSTILE}"))
    assert "<script" not in fragment
    assert HOSTILE in Page(fragment).texts
    assert "<script" not in decomposition_html(HOSTILE, failed_decomposition(HOSTILE, HOSTILE))
