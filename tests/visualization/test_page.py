from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from qdecomp.data_structures.conversion.chain import convert
from qdecomp.data_structures.errors import QDecompError
from qdecomp.data_structures.operators import Operator
from qdecomp.files import read_break_csv
from qdecomp.parsers.decomposition import Decomposition, decomposition_from_text, failed_decomposition
from qdecomp.visualization import PageItem, VerdictEvidence, page_html, page_parts
from qdecomp.visualization.assets import content_policy, page_script
from qdecomp.visualization.colours import SURFACES
from tests.pages import Page, figure_faults, run_in_page
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


def records(page: Page) -> list[str]:
    return [attributes["class"] or "" for tag, attributes in page.tags if tag == "article"]


def test_the_page_is_well_formed_and_needs_nothing_from_elsewhere(page: Page) -> None:
    assert page.open == []
    assert not {"link", "img", "iframe"} & {tag for tag, _ in page.tags}
    assert page.count("script") == 1
    assert all((attributes["href"] or "").startswith("#q") for tag, attributes in page.tags if tag == "a")
    assert not re.search(r"url\((?!#)|@import", page_html(ITEMS))
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_records_are_marked_by_lf_em(page: Page) -> None:
    kinds = [set(classes.split()) & {"qd-equal", "qd-different", "qd-failed"} for classes in records(page)]
    assert kinds == [{"qd-equal"}, {"qd-different"}, {"qd-different", "qd-failed"}, set(), {"qd-different"}]
    assert page.texts.count("✓ equal to gold") == 1
    assert page.texts.count("✗ different from gold") == 3
    assert "(gold: step 1: refers to itself (#1)) · q-5" in page.texts
    assert "the question is too long" in page.texts


def test_gold_stands_beside_the_prediction(page: Page) -> None:
    assert page.texts.count("Prediction") == page.texts.count("Gold") == 4
    assert page.texts.count("Steps: gold") == 3
    # Two sides of two questions, one of each of the others; steps and graph of each.
    assert page.count("svg") == 14


def test_the_counts_stand_above_and_choose_what_is_shown(page: Page) -> None:
    assert "5 questions · 1 of 4 equal to gold by LF-EM (25.0%)" in page.text
    labels = [attributes["for"] for tag, attributes in page.tags if tag == "label" and "for" in attributes]
    inputs = [attributes["id"] for tag, attributes in page.tags if tag == "input" and attributes["type"] == "radio"]
    assert labels == inputs == ["qd-show-all", "qd-show-equal", "qd-show-different", "qd-show-failed"]


def test_without_gold_there_is_nothing_to_choose() -> None:
    page = Page(page_html([WITHOUT_GOLD]))
    assert not [attributes for tag, attributes in page.tags if tag == "input" and attributes["type"] == "radio"]
    assert "Gold" not in page.texts


def test_whatever_comes_from_data_is_escaped(page: Page) -> None:
    html = page_html(ITEMS, title=HOSTILE)
    assert html.count("<script") == 1
    assert f"<script>{page_script().removeprefix('<script>')}" in html
    assert HOSTILE in page.texts


def test_pictures_are_folded_where_there_are_many() -> None:
    few, many = Page(page_html([EQUAL] * 3)), Page(page_html([EQUAL] * 100))
    assert {"open" in attributes for tag, attributes in few.tags if attributes.get("class") == "qd-pictures"} == {True}
    assert {"open" in attributes for tag, attributes in many.tags if attributes.get("class") == "qd-pictures"} == {
        False
    }


def test_the_page_allows_its_own_script_only() -> None:
    source = page_script().removeprefix("<script>").removesuffix("</script>")
    digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
    assert f"default-src 'none'; script-src 'sha256-{digest}';" in content_policy()
    html = page_html(ITEMS)
    assert html.index(content_policy()) < html.index("<style") < html.index(page_script())
    # What ends a script element early would make the rest of it text.
    assert "</" not in source


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


def test_differences_are_marked_and_evidence_has_a_place() -> None:
    item = replace(
        DIFFERENT,
        prediction_remarks=((),),
        gold_remarks=((), ("missing",), ("missing",)),
        evidence=(VerdictEvidence("Why <b>", ("because of <i>",)),),
    )
    html = page_html([item])
    page = Page(html)
    marks = [attributes for _, attributes in page.tags if "qd-remark-missing" in (attributes.get("class") or "")]
    # Two in the record, one in the legend.
    assert len(marks) == 3
    assert "Why <b>" in page.texts
    assert "because of <i>" in page.texts
    assert "<b>" not in html


def test_the_legend_names_every_operator_and_special_token(page: Page) -> None:
    legend = page.texts[page.texts.index("Legend") :]
    assert {*(operator.value for operator in Operator), "span", "duplicate", "[DUP]", "[DUM]"} <= set(legend)


def test_the_page_comes_in_pieces_with_one_style() -> None:
    parts = list(page_parts(ITEMS))
    assert len(parts) == len(ITEMS) + 2
    assert all("<style" not in part for part in parts[1:])


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
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1200, 500])
def test_in_a_browser_nothing_is_clipped_or_covered(project_root: Path, tmp_path: Path, width: int, dark: bool) -> None:
    labels, faults = figure_faults(hard_page(project_root), tmp_path, width=width, dark=dark)
    assert labels > 500
    assert faults == []


_LOOK_AT_COLOURS = """
const fill = (element) => getComputedStyle(element).fill;
const hidden = (id) => {
  document.getElementById(id).click();
  return [...document.querySelectorAll("article")].map((each) => getComputedStyle(each).display === "none");
};
return {
  paper: fill(document.querySelector("svg.qd-graph .qd-paper")),
  labels: [...new Set([...document.querySelectorAll("svg .qd-label, svg .qd-operator")].map(fill))],
  page: getComputedStyle(document.body).backgroundColor,
  hidden: hidden("qd-show-equal").slice(-5),
  scripts: document.querySelectorAll("article script").length,
};
"""


def as_hex(colour: str) -> str:
    return "#" + "".join(f"{int(part):02x}" for part in re.findall(r"\d+", colour)[:3])


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_a_browser_the_scheme_decides_the_colours(project_root: Path, tmp_path: Path, scheme: str) -> None:
    page = hard_page(project_root)
    seen: dict[str, Any] = run_in_page(page, _LOOK_AT_COLOURS, tmp_path, dark=scheme == "dark")
    assert as_hex(seen["paper"]) == as_hex(seen["page"]) == getattr(SURFACES["paper"], scheme)
    assert len(seen["labels"]) >= 12
    assert seen["hidden"] == [False, True, True, True, True]
    assert seen["scripts"] == 0
