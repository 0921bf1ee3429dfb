"""The names of several words in a question, and where a plan may be in them."""

from __future__ import annotations

import pytest

from qdecomp.data_structures.tokenization import tokenize
from qdecomp.decoding.names import name_places, name_spans


def names(question: str) -> list[str]:
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
    assert names(question) == expected


def torn(question: str, plan: str) -> str | None:
    """The first word of a plan that may not stand where it is."""
    words = [word.lower() for word in tokenize(question)]
    ids = {word: number for number, word in enumerate(words)}
    places = name_places(tokenize(question), [ids[word] for word in words])
    assert places is not None
    at, bound = 0, False
    for word in [*plan.lower().split(), "the end"]:
        number = ids.get(word, -1)
        if number in places.misplaced(at) if not bound else not places.of.get(number, 0) & places.next_places(at):
            return word
        at, bound = places.after(at, bound, number)
    return None


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
        (MET, "barney", "the end"),
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
    ],
)
def test_a_name_is_whole(question: str, plan: str, word: str | None) -> None:
    assert torn(question, plan) == word


def test_a_word_that_plans_have_anyhow_may_be_anywhere() -> None:
    words = ["Who", "sings", "Most", "High", "?"]
    places = name_places(words, [10, 11, 3, 12, 13], known=5)
    assert places is not None
    assert list(places.misplaced(0)) == [12]
    assert places.after(0, False, 3) == (0b100, False)
    assert list(places.misplaced(0b100)) == []


def test_without_a_name_there_are_no_places() -> None:
    assert name_places(["who", "sings", "?"], [1, 2, 3]) is None
