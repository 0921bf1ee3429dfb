from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdecomp.evaluation.metrics.break_text import (
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


def test_a_number_too_long_for_a_step_is_a_word():
    assert parse_break_text("return #" + "9" * 5000).references == ((),)


def _graph(text: str):
    return graph_of(parse_break_text(text))


def test_nodes_come_in_the_order_of_the_edges():
    graph = _graph("return a ;return #1 ;return #2 of #1 and #1 ;return d")
    assert list(graph.labels) == [2, 1, 3, 4]
    assert graph.edges == {2: (1,), 1: (), 3: (2, 1), 4: ()}


def test_a_reference_to_nothing_is_a_node_without_a_label():
    assert _graph("return #7").labels == {1: " @@7@@", 7: ""}


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


@pytest.mark.parametrize(
    ("prediction", "gold", "value"),
    [
        ("return Blue Birds ;return number of  #1", "return blue birds;return number of #1", 1.0),
        ("return chile ;return king of #1", "return chile ;return the king of #1", 0.0),
        ("return #1 or #2", "return #2 or #1", 0.0),
        ("return birds ;", "return birds", 0.0),
        # Bad references do not matter to a comparison of texts.
        ("return cubes ;return color of #2", "return cubes ;return color of #2", 1.0),
        ("return #2 ;return #1", "return #2 ;return #1", 1.0),
        ("return cubes of #7", "return cubes", 0.0),
    ],
)
def test_verdict(prediction, gold, value):
    assert exact_match("", prediction, gold).value == value


def test_every_official_verdict_and_sari(official_rows):
    for row in official_rows:
        texts = row["question"], row["prediction"], row["gold"]
        assert exact_match(*texts).value == float(row["exact_match"]), row["question_id"]
        assert sari(*texts).value == pytest.approx(row["sari"], abs=5e-7, rel=0), row["question_id"]


def test_sari_by_hand():
    # Single words: keep b; x and y are added where x is wanted (precision 1/2, recall 1); a is deleted.
    # Pairs: b-x and x-y are added where b-x is wanted (again 2/3). Triples: b-x-y is added, nothing is wanted (0).
    # Nothing else is to be kept, added or deleted wrongly, and what there is nothing of counts as right.
    add = (2 / 3, 2 / 3, 0, 1)
    assert sari_score("a b", "b x y", "b x") == pytest.approx((4 + sum(add) + 4) / 12)


def test_a_trailing_space_of_the_question_is_a_word():
    assert sari_score("birds ", "birds", "birds") == 1.0
    assert sari_score("birds x ", "birds ", "birds") != sari_score("birds x", "birds ", "birds")


@given(*[st.text("ab @1;#", max_size=30)] * 3)
def test_sari_is_between_zero_and_one(question, prediction, gold):
    assert 0.0 <= sari(question, prediction, gold).value <= 1.0
