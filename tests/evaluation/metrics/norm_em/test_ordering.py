from __future__ import annotations

import pytest

from qdecomp.evaluation.metrics.break_text import BreakText, StepGraph, graph_of
from qdecomp.evaluation.metrics.norm_em.ordering import NormalizationError, number_by_level, sort_filter_chains


def _graph(*labels: str) -> StepGraph:
    return graph_of(BreakText(labels))


def _sorted(*labels: str) -> dict[int, str]:
    return dict(sort_filter_chains(_graph(*labels)).labels)


def test_two_filters_are_sorted_by_their_conditions_and_edges_follow():
    labels = ("ball", "shiny", "red", "FILTER(@@1@@,@@2@@)", "FILTER(@@4@@,@@3@@)", "number of @@5@@")
    graph = sort_filter_chains(_graph(*labels))
    changed = {4: "FILTER(@@5@@,@@2@@)", 5: "FILTER(@@1@@,@@3@@)", 6: "number of @@4@@"}
    assert graph.labels == dict(enumerate(labels, start=1)) | changed
    assert {node: set(targets) for node, targets in graph.edges.items() if targets} == {4: {5, 2}, 5: {1, 3}, 6: {4}}


def test_a_condition_counts_with_what_it_refers_to():
    in_order = ("ball", "of @@3@@", "a", "of @@5@@", "b", "FILTER(@@1@@,@@2@@)", "FILTER(@@6@@,@@4@@)")
    assert _sorted(*in_order) == dict(enumerate(in_order, start=1))
    swapped = _sorted("ball", "of @@3@@", "b", "of @@5@@", "a", "FILTER(@@1@@,@@2@@)", "FILTER(@@6@@,@@4@@)")
    assert (swapped[7], swapped[6]) == ("FILTER(@@1@@,@@4@@)", "FILTER(@@7@@,@@2@@)")


@pytest.mark.parametrize(
    "labels",
    [
        # The inner filter is needed by something else as well.
        ("ball", "red", "big", "FILTER(@@1@@,@@2@@)", "FILTER(@@4@@,@@3@@)", "number of @@4@@"),
        # The inner filter is the condition, not what is filtered.
        ("ball", "red", "big", "FILTER(@@1@@,@@2@@)", "FILTER(@@3@@,@@4@@)"),
        # A relation in space is no filter that could change places.
        ("ball", "red", "big", "FILTER[POS_NEAR](@@1@@,@@2@@)", "FILTER(@@4@@,@@3@@)"),
        # There is a circle.
        ("@@2@@", "@@1@@", "ball", "red", "big", "FILTER(@@3@@,@@4@@)", "FILTER(@@6@@,@@5@@)", "@@8@@ of @@3@@"),
    ],
)
def test_what_is_no_chain_stays(labels):
    assert _sorted(*labels) == dict(sorted(dict(enumerate(labels, start=1)).items()))


def test_a_chain_that_crosses_a_sorted_one_has_no_normal_form():
    # 5 and 6 change places, so that 8 filters 5, which the step 9 needs first: not a filter.
    graph = StepGraph(
        {
            6: "FILTER(@@5@@,@@2@@)",
            5: "FILTER(@@1@@,@@3@@)",
            8: "FILTER(@@6@@,@@4@@)",
            10: "FILTER(@@8@@,@@7@@)",
            9: "for @@6@@",
            1: "ball",
            2: "a",
            3: "b",
            4: "c",
            7: "d",
        },
        {9: (6,), 6: (5, 2), 5: (1, 3), 8: (6, 4), 10: (8, 7), 1: (), 2: (), 3: (), 4: (), 7: ()},
    )
    with pytest.raises(NormalizationError):
        sort_filter_chains(graph)


def test_texts_that_double_with_each_step_do_not_use_up_the_memory():
    doubling = ["x y", *(f"@@{number}@@ @@{number}@@" for number in range(1, 60))]
    filters = ["FILTER(@@1@@,@@60@@)", "FILTER(@@61@@,@@1@@)"]
    labels = _sorted(*doubling, *filters)
    assert [labels[61], labels[62]] == filters


@pytest.mark.parametrize(
    ("labels", "numbered"),
    [
        # By level, then by label; equal nodes become one.
        (
            ["@@4@@ of @@2@@", "pear", "Zebra", "@@3@@ near @@2@@", "pear", "with @@5@@"],
            ["Zebra", "pear", "@@1@@ near @@2@@", "with @@2@@", "@@3@@ of @@2@@"],
        ),
        # Labels are sorted as text, also those with numbers.
        (
            [*(f"{number:02}" for number in range(1, 12)), "@@2@@", "@@10@@"],
            [*(f"{number:02}" for number in range(1, 12)), "@@10@@", "@@2@@"],
        ),
        # A circle that leads to a leaf stops the numbering.
        (["@@2@@ of @@3@@", "@@1@@", "ball"], ["@@2@@ of @@3@@", "@@1@@", "ball"]),
        # A node that refers to itself keeps its number or is lost.
        (["zoo", "ape", "color of @@3@@"], ["ape", "zoo", "color of @@3@@"]),
        (["color of @@1@@", "ape"], ["ape"]),
    ],
)
def test_numbers(labels, numbered):
    assert number_by_level(_graph(*labels)) == dict(enumerate(numbered, start=1))


def test_a_node_that_needs_one_without_a_level_has_no_normal_form():
    with pytest.raises(NormalizationError):
        number_by_level(_graph("color of @@1@@", "ape", "@@1@@ of @@2@@"))
