from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from operator import attrgetter
from xml.etree import ElementTree

from qdecomp.evaluation.differences import DifferenceKind
from qdecomp.evaluation.plots import (
    SERIES,
    SUBSETS_SHOWN,
    plot_agreement,
    plot_by_source,
    plot_by_steps,
    plot_differences,
)
from qdecomp.evaluation.statistics import Group, places_by, score_groups
from tests.evaluation.evaluation_examples import told_evaluation, told_metric

VERDICT = told_metric("verdict")
VALUES = {"first": ["1", "0", "1", "1"] * 3, "second": ["0", "0", "1", "0"] * 3}


def texts(svg: str) -> list[str]:
    """The texts of a figure; it must be well-formed."""
    return [element.text or "" for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def groups(key: str, values: Mapping[str, Sequence[str]] = VALUES) -> tuple[Group, ...]:
    evaluation = told_evaluation(values, [VERDICT])
    return score_groups(evaluation, places_by(map(attrgetter(key), evaluation.gold.examples)))


def test_steps_and_sources_are_labelled_with_systems_and_counts() -> None:
    by_steps = texts(plot_by_steps(groups("steps"), "verdict", "LF-EM"))
    assert {"first", "second", "LF-EM (%)", "number of gold steps", "questions", "1", "2", "3", "4"} <= set(by_steps)
    by_source = texts(plot_by_source(groups("source"), "verdict", "LF-EM"))
    assert {"first", "second", "LF-EM (%)", "DROP", "GEO", "(6)"} <= set(by_source)


def test_systems_differ_by_more_than_colour_and_colours_come_from_the_page() -> None:
    assert "stroke-dasharray" in plot_by_steps(groups("steps"), "verdict", "LF-EM")
    svg = plot_by_source(groups("source"), "verdict", "LF-EM")
    assert "<pattern" in svg
    assert {"var(--series-1)", "var(--ink)"} <= set(re.findall(r"var\([^)]*\)", svg))
    assert not re.search("#010[0-9]|#0404", svg)
    ids = [element.get("id") for element in ElementTree.fromstring(svg).iter() if element.get("id")]
    assert ids
    assert all(each.startswith("by-source-") for each in ids if each)
    assert svg == plot_by_source(groups("source"), "verdict", "LF-EM")


def test_agreement_has_a_bar_with_count_and_share_for_each_subset() -> None:
    subsets = {(): 6, ("a", "b"): 3, ("a",): 1, ("b",): 0}
    labels = texts(plot_agreement(subsets, ["a", "b"]))
    assert {"a", "b", "questions", "right: filled, wrong: empty"} <= set(labels)
    assert {"6", "60.0%", "30.0%", "10.0%", "0.0%"} <= set(labels)
    # Of many subsets, the largest ones.
    subsets = {(f"s{number}",): 1000 - number for number in range(40)}
    many = texts(plot_agreement(subsets, [name for (name,) in subsets]))
    assert str(1000 - SUBSETS_SHOWN + 1) in many
    assert str(1000 - SUBSETS_SHOWN) not in many


def test_differences_show_every_kind_with_counts() -> None:
    counts = {"a": {DifferenceKind.EXTRA_STEP: 1234}, "b": {DifferenceKind.TOKENS_ONLY: 7}}
    labels = texts(plot_differences(counts, {"a": 2000, "b": 2}))
    assert {str(kind) for kind in DifferenceKind} <= set(labels)
    assert {"1,234 (62%)", "7 (350%)", "a (2,000 wrong)", "b (2 wrong)"} <= set(labels)


def test_axes_of_counts_have_whole_numbers() -> None:
    labels = texts(plot_differences({"a": {DifferenceKind.EXTRA_STEP: 2}}, {"a": 2}))
    assert [label for label in labels if label.replace(",", "").isdigit()] == ["0", "1", "2"]
    labels = texts(plot_agreement({("a",): 1, (): 0}, ["a"]))
    assert "0.5" not in labels


def test_more_systems_than_looks_and_odd_names_can_be_drawn() -> None:
    names = ["$x^2$", "_hidden", "<b> & co", "long " * 20, *(f"system {number}" for number in range(SERIES))]
    by_steps = groups("steps", {name: ["1", "0", "1"] for name in names})
    labels = {label.strip() for label in texts(plot_by_steps(by_steps, "verdict", "M"))}
    assert {name if len(name) <= 30 else f"{name[:29]}…" for name in names} <= labels
