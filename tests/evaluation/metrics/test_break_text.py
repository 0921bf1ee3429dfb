from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdecomp.evaluation.metrics.break_text import parse_break_text


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
