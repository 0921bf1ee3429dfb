from __future__ import annotations

import numpy as np
import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.parsers.plan_rules import PLAN_RULES, PlanProgress, PlanRules, RuleNames

TOKENS = ("@pad@", "@start@", "@end@", ";", "cubes", "#1", "#2", "#3")


def allowed(text: str, names: RuleNames = True) -> set[str]:
    """Which of references, separator and end may follow a text; ``copied`` stands for a word of the question."""
    rules = PlanRules(TOKENS, ";", "@end@", names)
    ids = [TOKENS.index(word) if word in TOKENS else len(TOKENS) + 3 for word in ("@start@", *text.split())]
    (row,) = rules.forbidden(np.array([ids]))
    progress = PlanProgress()
    for token in ids[1:]:
        progress = rules.after(progress, token)
    # Token by token, and looked up the second time, the same may follow.
    for _ in range(2):
        assert rules.forbidden_ids(progress).tolist() == rules.tokens[row].tolist()
    return {TOKENS[token] for token, forbidden in zip(rules.tokens, row, strict=True) if not forbidden}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", set()),
        ("cubes", {";", "@end@"}),
        ("copied", {";", "@end@"}),
        ("cubes ;", {"#1"}),
        ("cubes ; copied", {"#1", ";"}),
        ("cubes ; #1", {"#1", ";", "@end@"}),
        ("cubes ; #1 ; #2", {"#1", "#2", ";", "@end@"}),
        ("cubes ; #1 ; #1", {"#1", "#2", ";"}),
        ("cubes ; copied ; cubes ; #1 #2", {"#1", "#2", "#3", ";"}),
        ("cubes ; copied ; cubes ; #1 #2 #3", {"#1", "#2", "#3", ";", "@end@"}),
    ],
)
def test_what_may_follow(text: str, expected: set[str]) -> None:
    assert allowed(text) == expected


def test_rules_can_be_chosen_and_turned_off() -> None:
    everything = {"#1", "#2", "#3", ";", "@end@"}
    assert allowed("cubes ;", False) == everything
    assert allowed("cubes ;", ["no_empty_steps"]) == everything - {";", "@end@"}
    assert allowed("cubes ; copied", ["no_unused_steps"]) == everything - {"@end@"}
    assert allowed("cubes ; copied", ["only_earlier_references"]) == everything - {"#2", "#3"}
    assert not PlanRules(TOKENS, ";", "@end@", [])
    assert PlanRules(TOKENS, ";", "@end@", list(PLAN_RULES))


def test_an_unknown_rule_is_named() -> None:
    with pytest.raises(DataError, match="no plan rule 'no_nonsense'; choose from only_earlier_references"):
        PlanRules(TOKENS, ";", "@end@", ["no_nonsense"])


def test_rows_are_looked_at_one_by_one() -> None:
    rules = PlanRules(TOKENS, ";", "@end@")
    rows = np.array([[1, 4, 3], [1, 4, 5], [1, 4, 4]])
    together = rules.forbidden(rows)
    for number in range(3):
        np.testing.assert_array_equal(together[number], rules.forbidden(rows[number : number + 1])[0])


def test_a_vocabulary_without_a_separator_has_plans_of_one_step() -> None:
    rules = PlanRules(("@start@", "@end@", "cubes"), ";", "@end@")
    assert rules.forbidden(np.array([[0]])).all()
    assert not rules.forbidden(np.array([[0, 2]])).any()
