from __future__ import annotations

import pytest

from qdecomp.data_structures.tokenization import tokenize
from qdecomp.parsers.plan_rules import PLAN_RULES, PlanProgress, PlanRules, RuleNames, name_places, name_spans

TOKENS = ("@pad@", "@start@", "@end@", ";", "cubes", "#1", "#2", "#3")


def forbidden_after(rules: PlanRules, *tokens: int) -> list[int]:
    progress = PlanProgress()
    for token in tokens:
        progress = rules.after(progress, token)
    return rules.forbidden(progress).tolist()


def allowed(text: str, names: RuleNames = True) -> set[str]:
    """Which of references, separator and end may follow a text; ``copied`` stands for a word of the question."""
    rules = PlanRules(TOKENS, ";", "@end@", names)
    ids = [TOKENS.index(word) if word in TOKENS else len(TOKENS) + 3 for word in text.split()]
    forbidden = forbidden_after(rules, *ids)
    assert forbidden_after(rules, *ids) == forbidden
    return {"#1", "#2", "#3", ";", "@end@"} - {TOKENS[token] for token in forbidden if token < len(TOKENS)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", set()),
        ("cubes", {";", "@end@"}),
        ("copied", {";", "@end@"}),
        ("cubes ;", {"#1"}),
        ("cubes ; copied", {"#1", ";"}),
        ("cubes ; #1", {";", "@end@"}),
        ("cubes ; #1 ; #2", {"#1", ";", "@end@"}),
        ("cubes ; #1 ; #1", {"#2", ";"}),
        ("cubes ; copied ; cubes ; #1 #2", {"#1", "#3", ";"}),
        ("cubes ; copied ; cubes ; #1 #2 #3", {"#1", "#2", ";", "@end@"}),
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


def test_a_vocabulary_without_a_separator_has_plans_of_one_step() -> None:
    rules = PlanRules(("@start@", "@end@", "cubes"), ";", "@end@")
    assert forbidden_after(rules) == [1]
    assert forbidden_after(rules, 2) == [2]


def test_a_name_that_is_begun_is_completed_and_none_begins_in_its_middle() -> None:
    rules = PlanRules(TOKENS, ";", "@end@", ["whole_names"])
    film, kung, fu, panda = range(len(TOKENS), len(TOKENS) + 4)
    named = rules.with_names(name_places(("film", "Kung", "Fu", "Panda"), (film, kung, fu, panda), len(TOKENS)))
    assert forbidden_after(named) == [fu, panda]
    assert forbidden_after(named, film) == [fu, panda]
    assert forbidden_after(named, film, kung) == [*range(len(TOKENS)), film, kung, panda]
    assert forbidden_after(named, kung, fu) == [*range(len(TOKENS)), film, kung, fu]
    assert forbidden_after(named, kung, fu, panda) == [fu, panda]


def test_a_word_comes_twice_in_a_row_only_if_the_question_has_it_so() -> None:
    rules = PlanRules(TOKENS, ";", "@end@", ["no_repeated_words"])
    songs, by, duran = range(len(TOKENS), len(TOKENS) + 3)
    assert forbidden_after(rules, songs, by) == [by]
    assert forbidden_after(rules, songs, TOKENS.index(";")) == []
    named = rules.with_names(name_places(("songs", "by", "duran", "duran"), (songs, by, duran, duran), len(TOKENS)))
    assert forbidden_after(named, duran) == []
    assert forbidden_after(named, duran, by) == [by]


def names_in(question: str) -> list[str]:
    words = tokenize(question)
    return [" ".join(words[first:end]) for first, end in name_spans(words)]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who played Barney Stinson from How I Met Your Mother?", ["Barney Stinson", "How I Met Your Mother"]),
        ("Is Icknield Walk First School in Herts?", ["Icknield Walk First School"]),
        ("Which is older, Summer Wars or The Secret of Kells?", ["Summer Wars", "The Secret of Kells"]),
        ('who wrote "the red and the black"?', ["the red and the black"]),
        ("who sings “Blue in Green” best?", ["Blue in Green"]),
        # The first word of a sentence has a capital anyhow.
        ("List Denver teams", []),
        ("Barack Obama was born where?", ["Barack Obama"]),
        ("It was late. Did Anna Maria call?", ["Anna Maria"]),
        ("Customers of the Leeds branch", []),
        # A plan may split these.
        ("Who is the President of Peru?", []),
        ("What is the GDP of Peru?", []),
        ("Which notes did I write about The Wire I saw?", ["The Wire"]),
        # Plans write initials in several ways.
        ('papers by "H. V. Mori"', []),
        ("WHAT IS THE SHAPE OF THE OBJECT?", []),
        ("which rivers cross texas?", []),
        ('a "quote without an end', []),
        ("", []),
    ],
)
def test_what_is_a_name(question: str, expected: list[str]) -> None:
    assert names_in(question) == expected


def torn(question: str, plan: str) -> str | None:
    """The first word of a plan that may not stand where it is; plans have "most" without copying it."""
    asked, words = [word.lower() for word in tokenize(question)], [*plan.split(), "@end@"]
    known = ["@end@", ";", "most", *(set(words) - {*asked, "@end@", ";", "most"})]
    ids = {word: number for number, word in enumerate(dict.fromkeys([*known, *asked]))}
    names = name_places(tokenize(question), [ids[word] for word in asked], len(known))
    rules = PlanRules(known, ";", "@end@", ["whole_names"]).with_names(names)
    tokens = [ids[word] for word in words]
    return next((word for n, word in enumerate(words) if tokens[n] in forbidden_after(rules, *tokens[:n])), None)


MET = "Who played Barney Stinson from How I Met Your Mother?"
YORK = "Are New York Yankees fans older than New York people?"


@pytest.mark.parametrize(
    ("question", "plan", "word"),
    [
        (MET, "barney stinson ; who played #1 from how i met your mother", None),
        (MET, "how i met your mother ; who played #1", None),
        (MET, "who played #1", None),
        (MET, "barney i met your mother", "i"),
        (MET, "stinson", "stinson"),
        (MET, "barney", "@end@"),
        (MET, "barney #1", "#1"),
        # Several names may begin alike, and a name may end before its last sign.
        (YORK, "new york ; new york yankees fans", None),
        (YORK, "new yankees", "yankees"),
        ('Who wrote "Up: The Hill"?', "up the hill", None),
        # An article may be left out, and another name may share the end.
        ("Who directed The Secret of Kells?", "secret of kells", None),
        ("Who directed The Secret of Kells?", "the secret of #1", "#1"),
        ("Who saw the French and the Russian Revolution?", "french revolution", None),
        ("Who saw the French or Russian Grand Prix?", "french prix", None),
        ("Is the author of Emma Woods English?", "author of emma woods ; if #1 is english", None),
        ("Since World War One, who won?", "world war one ; who won since #1", None),
        ("Who sings Most High?", "most ; songs of #1", None),
        ("Who sings Most High?", "most high", None),
        ("Who sings Most High?", "high", "high"),
    ],
)
def test_a_name_is_whole(question: str, plan: str, word: str | None) -> None:
    assert torn(question, plan) == word


def test_without_a_name_there_are_no_places() -> None:
    assert name_places(["who", "sings", "?"], [1, 2, 3]) is None
