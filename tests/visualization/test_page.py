from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from qdecomp.data_structures.conversion.chain import convert
from qdecomp.data_structures.conversion.qdmr_to_lf import to_logical_form
from qdecomp.data_structures.errors import QDecompError
from qdecomp.data_structures.operators import Operator
from qdecomp.data_structures.qdmr import parse_qdmr
from qdecomp.files import read_break_csv
from qdecomp.parsers.decomposition import (
    Decomposition,
    decomposition_from_graph,
    decomposition_from_text,
    failed_decomposition,
)
from qdecomp.visualization import PageItem, decomposition_html, page_html
from qdecomp.visualization.assets import content_policy, page_script
from tests.pages import Page, figure_faults
from tests.visualization.examples import GRAPHS, HOSTILE

QUESTION = "How many red cubes are there?"
GOLD = "return cubes ;return #1 that are red ;return number of #2"

EQUAL = PageItem(
    "q-1",
    QUESTION,
    decomposition_from_text(QUESTION, "return red cubes ;return number of #1"),
    decomposition_from_text(QUESTION, GOLD),
)
DIFFERENT = PageItem(
    "q-2", QUESTION, decomposition_from_text(QUESTION, "return cubes"), decomposition_from_text(QUESTION, GOLD)
)
FAILED = PageItem(
    "q-3", QUESTION, failed_decomposition(QUESTION, "the question is too long"), decomposition_from_text(QUESTION, GOLD)
)
WITHOUT_GOLD = PageItem("q-4", HOSTILE, decomposition_from_text(HOSTILE, f"return {HOSTILE}"))
BROKEN_GOLD = PageItem(
    "q-5", QUESTION, decomposition_from_text(QUESTION, GOLD), decomposition_from_text(QUESTION, "return #1")
)
ITEMS = [EQUAL, DIFFERENT, FAILED, WITHOUT_GOLD, BROKEN_GOLD]


@pytest.fixture(scope="module")
def page() -> Page:
    return Page(page_html(ITEMS, title=f"Title {HOSTILE}"))


def test_the_page_is_well_formed_and_needs_nothing_from_elsewhere(page: Page) -> None:
    assert page.open == []
    assert not {"link", "img", "iframe"} & {tag for tag, _ in page.tags}
    assert page.count("script") == 1
    assert all((attributes["href"] or "").startswith("#q") for tag, attributes in page.tags if tag == "a")
    assert not re.search(r"url\((?!#)|@import", page_html(ITEMS))
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_records_are_marked_by_lf_em(page: Page) -> None:
    records = [(attributes["class"] or "").split() for tag, attributes in page.tags if tag == "article"]
    kinds = [set(classes) & {"qd-equal", "qd-different", "qd-failed"} for classes in records]
    assert kinds == [{"qd-equal"}, {"qd-different"}, {"qd-different", "qd-failed"}, set(), {"qd-different"}]
    assert page.texts.count("✓ equal to gold") == 1
    assert page.texts.count("✗ different from gold") == 3
    assert "(gold: step 1: refers to itself (#1)) · q-5" in page.texts
    assert "the question is too long" in page.texts
    # Gold stands beside the prediction.
    assert page.texts.count("Prediction") == page.texts.count("Gold") == 4
    assert page.texts.count("Steps: gold") == 3
    assert page.count("svg") == 14


def test_the_counts_stand_above_and_choose_what_is_shown(page: Page) -> None:
    assert "5 questions · 1 of 4 equal to gold by LF-EM (25.0%)" in page.text
    labels = [attributes["for"] for tag, attributes in page.tags if tag == "label" and "for" in attributes]
    inputs = [attributes["id"] for tag, attributes in page.tags if tag == "input" and attributes["type"] == "radio"]
    assert labels == inputs == ["qd-show-all", "qd-show-equal", "qd-show-different", "qd-show-failed"]


def test_whatever_comes_from_data_is_escaped(page: Page) -> None:
    html = page_html(ITEMS, title=HOSTILE)
    assert html.count("<script") == 1
    assert f"<script>{page_script().removeprefix('<script>')}" in html
    assert HOSTILE in page.texts


def test_the_page_allows_its_own_script_only() -> None:
    assert "default-src 'none'; script-src 'sha256-" in content_policy()
    html = page_html(ITEMS)
    assert html.index(content_policy()) < html.index("<style") < html.index(page_script())
    # What ends a script element early would make the rest of it text.
    assert page_script().count("</") == 1


def test_the_tools_know_sources_steps_and_scores() -> None:
    scored = [
        replace(EQUAL, source="CLEVR", scores={"SARI": 0.91}, prediction=replace(EQUAL.prediction, confidence=0.61)),
        replace(DIFFERENT, source="GEO", scores={"SARI": 0.12}),
    ]
    page = Page(page_html(scored))
    values = [attributes.get("value") for tag, attributes in page.tags if tag == "option"]
    assert values == [
        *("", "CLEVR", "GEO", "place", "source", "verdict", "-verdict", "steps", "-steps", "confidence", "-confidence"),
        *("scoresari", "-scoresari"),
    ]
    first = next(attributes for tag, attributes in page.tags if tag == "article")
    assert first["data-confidence"] == "0.61"
    assert first["data-scoresari"] == "0.91"
    assert (first["data-verdict"], first["data-steps"], first["data-source"]) == ("1", "3", "CLEVR")
    assert "confidence 0.61 · SARI 0.91" in page.text


def test_differences_are_marked() -> None:
    item = replace(DIFFERENT, prediction_remarks=((),), gold_remarks=((), ("missing",), ("missing",)))
    page = Page(page_html([item]))
    marks = [attributes for _, attributes in page.tags if "qd-remark-missing" in (attributes.get("class") or "")]
    # Two in the record, one in the legend.
    assert len(marks) == 3


def test_the_legend_names_every_operator_and_special_token(page: Page) -> None:
    legend = page.texts[page.texts.index("Legend") :]
    assert {*(operator.value for operator in Operator), "span", "duplicate", "[DUP]", "[DUM]"} <= set(legend)


def test_a_notebook_shows_question_steps_and_both_pictures() -> None:
    graph = convert(QUESTION, GOLD).graph
    fragment = Page(decomposition_from_graph(QUESTION, graph, -1.25)._repr_html_())
    assert fragment.open == []
    assert QUESTION in fragment.texts
    assert fragment.count("li") == 3
    assert [attributes["class"] for tag, attributes in fragment.tags if tag == "svg"] == [
        "qdecomp qd-steps",
        "qdecomp qd-graph",
    ]
    assert "score -1.25" in fragment.texts
    assert fragment.count("style") == 1
    # Without a graph, there is the picture of the steps.
    assert Page(decomposition_html(QUESTION, decomposition_from_text("", GOLD))).count("svg") == 1


def test_a_notebook_shows_errors_with_what_there_is() -> None:
    broken = Page(decomposition_html(QUESTION, decomposition_from_text(QUESTION, "return #1")))
    assert {"return #1", "step 1: refers to itself (#1)"} <= set(broken.texts)
    assert broken.count("svg") == 0
    failed = decomposition_html(HOSTILE, failed_decomposition(HOSTILE, HOSTILE))
    assert {"There is no decomposition.", HOSTILE} <= set(Page(failed).texts)
    assert "<script" not in failed


VALUES = "return cubes ;return #1 that are <red> ;return number of #2"
CONVERSION = convert("How many <red> cubes are there?", VALUES)


@pytest.mark.parametrize(
    "value",
    [parse_qdmr(VALUES), to_logical_form(VALUES), CONVERSION.span_graph, CONVERSION.graph],
    ids=lambda value: type(value).__name__,
)
def test_values_show_themselves_as_pictures(value: Any) -> None:
    html = value._repr_html_()
    page = Page(html)
    assert page.open == []
    assert (page.count("svg"), page.count("style")) == (1, 1)
    assert "cubes" in page.text
    assert "<red>" not in html


def test_long_graphs_are_wrapped() -> None:
    question = " ".join(f"word{number}" for number in range(40))
    graph = GRAPHS["long"]
    shown = Decomposition(question, predicted_graph=graph, error="no steps")
    for html in (graph._repr_html_(), shown._repr_html_(), page_html([PageItem("long", question, shown)])):
        assert max(map(float, re.findall(r"--qd-width:([\d.]+)px", html))) <= 560


def hard_page(project_root: Path) -> str:
    """Graphs that are hard to draw, and questions of the sample set with every operator, beside gold."""
    drawn = [
        PageItem(name, name, Decomposition(name, predicted_graph=graph, error="no steps"))
        for name, graph in GRAPHS.items()
    ]
    examples = read_break_csv(project_root / "data" / "dev.csv")
    for example in sorted(examples, key=lambda example: -len(example.decomposition or ""))[:24:2]:
        try:
            conversion = convert(example.question, example.decomposition or "")
        except QDecompError:
            continue
        side = Decomposition(example.question, example.decomposition, conversion.form, conversion.graph, -3.25)
        drawn.append(PageItem(example.question_id, example.question, side, side))
    return page_html([*drawn, *ITEMS])


@pytest.mark.slow
@pytest.mark.parametrize("width", [1200, 500])
def test_in_a_browser_nothing_is_clipped_or_covered(project_root: Path, tmp_path: Path, width: int) -> None:
    labels, faults = figure_faults(hard_page(project_root), tmp_path, width=width)
    assert labels > 500
    assert faults == []
