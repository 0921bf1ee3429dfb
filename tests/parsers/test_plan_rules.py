from __future__ import annotations

import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.decoding.names import name_places
from qdecomp.parsers.plan_rules import PLAN_RULES, PlanProgress, PlanRules, RuleNames

TOKENS = ("@pad@", "@start@", "@end@", ";", "cubes", "#1", "#2", "#3")


def allowed(text: str, names: RuleNames = True) -> set[str]:
    """Which of references, separator and end may follow a text; ``copied`` stands for a word of the question."""
    rules = PlanRules(TOKENS, ";", "@end@", names)
    ids = [TOKENS.index(word) if word in TOKENS else len(TOKENS) + 3 for word in ("@start@", *text.split())]
    progress = PlanProgress()
    for token in ids[1:]:
        progress = rules.after(progress, token)
    forbidden = rules.forbidden(progress).tolist()
    assert rules.forbidden(progress).tolist() == forbidden
    return {"#1", "#2", "#3", ";", "@end@"} - {TOKENS[token] for token in forbidden}


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
    assert allowed("cubes ;", []) == everything
    assert allowed("cubes ;", list(PLAN_RULES)) == allowed("cubes ;")


def test_an_unknown_rule_is_named() -> None:
    with pytest.raises(DataError, match="no plan rule 'no_nonsense'; choose from only_earlier_references"):
        PlanRules(TOKENS, ";", "@end@", ["no_nonsense"])


def test_a_vocabulary_without_a_separator_has_plans_of_one_step() -> None:
    rules = PlanRules(("@start@", "@end@", "cubes"), ";", "@end@")
    assert rules.forbidden(PlanProgress()).tolist() == [1]
    assert rules.forbidden(rules.after(PlanProgress(), 2)).tolist() == []


def after_words(rules: PlanRules, *tokens: int) -> list[int]:
    progress = PlanProgress()
    for token in tokens:
        progress = rules.after(progress, token)
    return rules.forbidden(progress).tolist()


def test_a_name_that_is_begun_is_completed_and_none_begins_in_its_middle() -> None:
    rules = PlanRules(TOKENS, ";", "@end@", ["whole_names"])
    film, kung, fu, panda = range(len(TOKENS), len(TOKENS) + 4)
    named = rules.with_names(name_places(("film", "Kung", "Fu", "Panda"), (film, kung, fu, panda), len(TOKENS)))
    assert after_words(named) == [fu, panda]
    assert after_words(named, film) == [fu, panda]
    assert after_words(named, film, kung) == [*range(len(TOKENS)), film, kung, panda]
    assert after_words(named, kung, fu) == [*range(len(TOKENS)), film, kung, fu]
    assert after_words(named, kung, fu, panda) == [fu, panda]


def test_only_the_rule_for_names_needs_them() -> None:
    names = name_places(("by", "Who", "Met"), (8, 9, 10), 8)
    rules = PlanRules(TOKENS, ";", "@end@", ["no_empty_steps"])
    assert rules.with_names(names) is rules
    everything = PlanRules(TOKENS, ";", "@end@")
    assert everything.with_names(None) is everything
