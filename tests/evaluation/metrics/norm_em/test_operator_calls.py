from __future__ import annotations

import pytest

from qdecomp.evaluation.metrics.norm_em.operator_calls import aggregator_in, classify, operator_arguments, step_text

_CASES = [
    # step, operator, arguments
    ("green balls", "SELECT", None),
    ("number of #2", "AGGREGATE", ("COUNT", "#2")),
    ("the highest of #1", "AGGREGATE", ("MAX", "#1")),
    ("avg #4", "AGGREGATE", ("AVG", "#4")),
    ("number of #2 for each #1", "GROUP", None),
    ("#1 where #2 is at least three", "COMPARATIVE", ("#1", "#2", ">=", "three")),
    ("#1 where #2 is at most #3", "COMPARATIVE", ("#1", "#2", "=<", "#3")),
    ("#1 where #2 is not red", "COMPARATIVE", ("#1", "#2", "!=", "red")),
    ("#1 where #2 has two wings", "COMPARATIVE", ("#1", "#2", "FILTER", "has two wings")),
    ("#1 where #2 include #3", "COMPARATIVE", ("#1", "#2", "FILTER", "#3")),
    ("#1 of #2 where more wins", "COMPARATIVE", ("#1", "#2", ">", "wins")),
    ("#1 where #2 contain gold", "COMPARATIVE", ("#1", "#2", "CONTAINS", "gold")),
    ("where are #1 where #2 is", "COMPARATIVE", None),
    ("#1 where #2 longest", "SUPERLATIVE", ("MAX", "#1", "#2")),
    ("#1 , #2 and #3", "UNION", ("#1", "#2", "#3")),
    ("#1 or #2", "UNION", ("#1", "#2")),
    ("games in both #1 and #2", "INTERSECTION", None),
    ("#1 besides #2", "DISCARD", ("#1", "#2")),
    ("#1 besides swans", "DISCARD", None),
    ("#1 sorted by #2", "SORT", None),
    ("if #1 is behind #2", "BOOLEAN", ("POS_BEHIND_OF", "#1", "#2")),
    ("is #1 in the front of #2", "BOOLEAN", ("POS_IN_FRONT_OF", "#1", "#2")),
    ("if #1 is higher than two", "BOOLEAN", (">", "#1", "two")),
    ("is #1 red", "BOOLEAN", None),
    ("if there are any #1", "BOOLEAN", ("EXIST", "#1")),
    ("if there are any #1 here", "BOOLEAN", None),
    ("are all #1 the same", "BOOLEAN", ("SAME", "#1")),
    ("which is lower of #1 , #2", "COMPARISON", ("MIN", "#1", "#2")),
    ("which is true of #1 , #2", "COMPARISON", None),
    ("the difference of #1 and #2", "ARITHMETIC", None),
    ("colors of #1", "PROJECT", None),
    ("#1 that sing", "FILTER", None),
    ("#1 left of #2", "FILTER", ("POS_LEFT_OF", "#1", "#2")),
    ("ducks with #1 and #2", "NONE", None),
]


@pytest.mark.parametrize(("step", "operator", "arguments"), _CASES)
def test_operator_and_arguments(step, operator, arguments):
    parsed = step_text(step)
    assert classify(parsed) == operator
    found = operator_arguments(parsed)
    assert (found.texts if found else None) == arguments


@pytest.mark.parametrize(
    ("text", "references"),
    [
        ("#1 and #22", (1, 22)),
        ("balls", ()),
        ("# 1 and #2", (2,)),
        ("#1, #2", (1, 2)),
        ("#", ()),
        ("#1 ##", (1,)),
        ("", ()),
    ],
)
def test_references(text, references):
    assert step_text(text).references == references


@pytest.mark.parametrize("text", ["#one ball", "balls #a", "#1 and #2x"])
def test_what_follows_a_hash_must_be_a_number(text):
    assert step_text(text) is None


@pytest.mark.parametrize(
    ("text", "aggregator"),
    [
        ("number of balls", "COUNT"),
        ("the least", "MIN"),
        ("almost", "MAX"),
        ("plastic", "MAX"),
        ("mineral", "MIN"),
        ("total", "SUM"),
        ("mean height", "AVG"),
        ("meaning", None),
    ],
)
def test_aggregators_are_found_inside_words_too(text, aggregator):
    assert aggregator_in(text) == aggregator


@pytest.mark.parametrize(
    ("step", "properties", "places", "fits"),
    [
        ("number of #2", 1, 1, True),
        ("number of #2", 0, 2, False),
        ("#1 or #2", 0, 9, True),
        ("#1 or #2", 0, 1, False),
        ("#1 left of #2", 1, 2, True),
        ("#1 left of #2", 1, 3, False),
    ],
)
def test_counts(step, properties, places, fits):
    assert operator_arguments(step_text(step)).counts_fit(properties, places) is fits
