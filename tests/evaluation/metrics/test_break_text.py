from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdecomp.evaluation.metrics.break_text import (
    StepGraph,
    exact_match,
    graph_of,
    parse_break_text,
    sari,
    sari_score,
    text_of,
)
from qdecomp.evaluation.metrics.norm_em.ordering import levels_of


@pytest.mark.parametrize(
    ("text", "flat"),
    [
        ("return birds;  return #1 that   sing", "birds @@SEP@@ @@1@@ that sing"),
        ("return ships ;return #1 returning home", "ships @@SEP@@ @@1@@ ing home"),
        ("return return #1", "@@1@@"),
        ("return return  trips", "trips"),
        ("return ports ;return ;return #1 or #2", "ports @@SEP@@  @@SEP@@ @@1@@ or @@2@@"),
        ("return ports ;", "ports @@SEP@@ "),
        ("return # 1 and #", "# 1 and #"),
        ("Return Ports", "Return Ports"),
        ("", ""),
    ],
)
def test_flat(text, flat):
    assert parse_break_text(text).flat == flat


def test_an_ordinary_label_keeps_one_leading_space():
    assert parse_break_text("return cubes ;return #1 of #12").labels == (" cubes", " @@1@@ of @@12@@")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("return cubes ;return color of #1", None),
        ("return color of #2 ;return cubes", None),
        ("", "there is no step"),
        ("return ; return", "there is no step"),
        ("return cubes ;return color of #2", "step 2: refers to itself (#2)"),
        ("return cubes ;return color of #4", "step 2: refers to #4, but there are 2 steps"),
        ("return #2 ;return #1", "step 1: its references form a cycle (#1 → #2 → #1)"),
    ],
)
def test_problem(text, problem):
    found = parse_break_text(text).problem
    assert (None if found is None else str(found)) == problem


@given(st.text())
def test_any_text_can_be_read(text):
    parsed = parse_break_text(text)
    assert len(parsed.labels) == text.count(";") + 1
    assert len(parsed.references) == len(parsed.labels)


def test_a_number_too_long_for_a_step_is_a_word():
    assert parse_break_text("return #" + "9" * 5000).references == ((),)


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


@pytest.mark.parametrize(
    ("prediction", "gold", "value"),
    [
        ("return Blue Birds ;return number of  #1", "return blue birds;return number of #1", 1.0),
        ("return chile ;return king of #1", "return chile ;return the king of #1", 0.0),
        ("return #1 or #2", "return #2 or #1", 0.0),
        ("return birds ;", "return birds", 0.0),
    ],
)
def test_verdict(prediction, gold, value):
    assert exact_match("", prediction, gold).value == value


@pytest.mark.parametrize("prediction", ["", "  ", "return", ";"])
def test_an_empty_prediction_is_wrong_and_says_so(prediction):
    result = exact_match("how many birds?", prediction, prediction)
    assert (result.value, result.error) == (0.0, "prediction: there is no step")


@pytest.mark.parametrize("text", ["return cubes ;return color of #2", "return #2 ;return #1", "return cubes of #7"])
def test_bad_references_do_not_matter_to_a_comparison_of_texts(text):
    assert exact_match("", text, text).value == 1.0
    assert exact_match("", text, "return cubes").value == 0.0


def test_every_official_verdict(official_rows):
    wrong = [
        row["question_id"]
        for row in official_rows
        if exact_match(row["question"], row["prediction"], row["gold"]).value != float(row["exact_match"])
    ]
    assert not wrong


def test_sari_by_hand():
    # Single words: keep b; x and y are added where x is wanted (precision 1/2, recall 1); a is deleted.
    # Pairs: b-x and x-y are added where b-x is wanted (again 2/3). Triples: b-x-y is added, nothing is wanted (0).
    # Nothing else is to be kept, added or deleted wrongly, and what there is nothing of counts as right.
    add = (2 / 3, 2 / 3, 0, 1)
    assert sari_score("a b", "b x y", "b x") == pytest.approx((4 + sum(add) + 4) / 12)


def test_case_counts_for_sari():
    assert sari_score("Birds", "birds", "Birds") < sari_score("Birds", "Birds", "Birds") == 1.0


def test_a_trailing_space_of_the_question_is_a_word():
    assert sari_score("birds ", "birds", "birds") == 1.0
    assert sari_score("birds x ", "birds ", "birds") != sari_score("birds x", "birds ", "birds")


@pytest.mark.parametrize("prediction", ["", " ; return"])
def test_an_empty_prediction_has_no_sari(prediction):
    result = sari("how many birds?", prediction, "return birds ;return number of #1")
    assert (result.value, result.error) == (0.0, "prediction: there is no step")


@given(*[st.text("ab @1;#", max_size=30)] * 3)
def test_sari_is_between_zero_and_one(question, prediction, gold):
    assert 0.0 <= sari(question, prediction, gold).value <= 1.0


def test_every_official_sari(official_rows):
    wrong = [
        row["question_id"]
        for row in official_rows
        if sari(row["question"], row["prediction"], row["gold"]).value != pytest.approx(row["sari"], abs=5e-7, rel=0)
    ]
    assert not wrong
