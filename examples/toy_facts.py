"""A few made-up facts and a ranking by shared words: a retriever that needs no network and no model.

Finding the answer inside a fact is the work of a language model or a reader. Here every fact knows its answer.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass

__all__ = ["FACTS", "Fact", "rank"]


@dataclass(frozen=True, slots=True)
class Fact:
    """A sentence, and the answer to a question that it answers."""

    text: str
    answer: str


FACTS = (
    Fact("Mira Tovan, who was born in the country Norland, paints ships.", "Norland"),
    Fact("Osk Brandt, who was born in the country Suland, builds bridges.", "Suland"),
    Fact("The capital of Norland is Hestvik.", "Hestvik"),
    Fact("The capital of Suland is Port Anne.", "Port Anne"),
    Fact("The river Ulla flows through Hestvik.", "the Ulla"),
    Fact("The river Mere flows through Port Anne.", "the Mere"),
    Fact("The river Drom flows through the country Norland, but not through its capital.", "the Drom"),
    Fact("The population of Hestvik is 48,000.", "48,000"),
    Fact("The population of Port Anne is 31,000.", "31,000"),
)


def rank(question: str, facts: tuple[Fact, ...] = FACTS) -> list[tuple[float, Fact]]:
    """The facts that share words with a question, best first; rare words count more."""
    frequency = Counter(word for fact in facts for word in _words(fact.text))
    asked = _words(question)
    scored = [(sum(math.log(1 + len(facts) / frequency[word]) for word in asked & _words(f.text)), f) for f in facts]
    return sorted(((score, fact) for score, fact in scored if score > 0), key=lambda pair: -pair[0])


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))
