from __future__ import annotations

import pytest

from qdecomp.evaluation.metrics.norm_em.operator_calls import operator_call


@pytest.mark.parametrize(
    ("step", "call"),
    [
        ("green balls", None),
        ("number of #2", ("AGGREGATE", "COUNT", "#2")),
        ("the highest of #1", ("AGGREGATE", "MAX", "#1")),
        ("avg #4", ("AGGREGATE", "AVG", "#4")),
        ("sum of #4", ("AGGREGATE", "SUM", "#4")),
        ("number of #2 for each #1", None),
        ("#1 where #2 is at least three", ("COMPARATIVE", ">=", "#1", "#2", "three")),
        ("#1 where #2 is at most #3", ("COMPARATIVE", "=<", "#1", "#2", "#3")),
        ("#1 where #2 is not red", ("COMPARATIVE", "!=", "#1", "#2", "red")),
        ("#1 where #2 has two wings", ("COMPARATIVE", "FILTER", "#1", "#2", "has two wings")),
        ("#1 where #2 include #3", ("COMPARATIVE", "FILTER", "#1", "#2", "#3")),
        ("#1 of #2 where more wins", ("COMPARATIVE", ">", "#1", "#2", "wins")),
        ("#1 where #2 contain gold", ("COMPARATIVE", "CONTAINS", "#1", "#2", "gold")),
        ("where are #1 where #2 is", None),
        ("#1 where #2 longest", ("SUPERLATIVE", "MAX", "#1", "#2")),
        ("#1 , #2 and #3", ("UNION", None, "#1", "#2", "#3")),
        ("#1 or #22", ("UNION", None, "#1", "#22")),
        # An intersection, which has no call, is no union.
        ("games in both #1 and #2", None),
        ("#1 besides #2", ("DISCARD", None, "#1", "#2")),
        ("#1 besides swans", None),
        ("#1 sorted by #2", None),
        ("if #1 is behind #2", ("BOOLEAN", "POS_BEHIND_OF", "#1", "#2")),
        ("is #1 in the front of #2", ("BOOLEAN", "POS_IN_FRONT_OF", "#1", "#2")),
        ("if #1 is higher than two", ("BOOLEAN", ">", "#1", "two")),
        ("is #1 red", None),
        ("if there are any #1", ("BOOLEAN", "EXIST", "#1")),
        ("if there are any #1 here", None),
        ("are all #1 the same", ("BOOLEAN", "SAME", "#1")),
        ("which is lower of #1 , #2", ("COMPARISON", "MIN", "#1", "#2")),
        # Words are looked for inside others.
        ("which mineral of #1 , #2", ("COMPARISON", "MIN", "#1", "#2")),
        ("which is true of #1 , #2", None),
        ("the difference of #1 and #2", None),
        ("colors of #1", None),
        ("#1 that sing", None),
        ("#1 left of #2", ("FILTER", "POS_LEFT_OF", "#1", "#2")),
        ("#1 left of #2 and #3", None),
        ("ducks with #1 and #2", None),
        # What follows a hash must be a number, unless a space does.
        ("number of #2 #x", None),
        ("number of #2 # ", ("AGGREGATE", "COUNT", "#2")),
        ("", None),
        # The comparator is itself a word of the step, so that nothing is left for the property.
        ("if #1 = is two", None),
    ],
)
def test_operator_call(step, call):
    words = step.split(" ")
    found = operator_call(words)
    spans = () if found is None else [" ".join(words[first : last + 1]) for first, last in found.spans]
    assert (found and (found.operator, found.property, *spans)) == call
