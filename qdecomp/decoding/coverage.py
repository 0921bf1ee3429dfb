"""Plans that cover the words of the question.

A network may skip a word of the question, such as one of two names, and still be confident. With a penalty
for each word that is left out, the next best plan wins if it has that word. Words that plans often leave out, such as
"show me", cost nothing. A graph has the words at the ends of its edges.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.lexicon import skipped_words, stop_words
from qdecomp.data_structures.special_tokens import question_length

_HIGHEST_PENALTY = 1000
_WORD = re.compile(r"[^\W_]+")
# Every step of a written plan begins with it, so a graph need not have it.
_ALWAYS_THERE = frozenset({"return"})


def check_penalty(penalty: float) -> None:
    """Raise unless it is a number, 0 or more, that a sum can hold."""
    if isinstance(penalty, bool) or not isinstance(penalty, int | float) or not 0 <= penalty <= _HIGHEST_PENALTY:
        raise DataError(f"coverage_penalty is {str(penalty)[:20]!r}; give a number from 0 to {_HIGHEST_PENALTY:,}")


def unsaid_words(question: str, decomposition: str) -> tuple[str, ...]:
    """The words of a question that a decomposition has neither as they are nor with or without an ``s`` at the end.

    >>> unsaid_words("How many more goals did Messi score than Ronaldo?", "return goals of Ronaldo ;return number #1")
    ('messi', 'score')
    """
    said = {_without_s(word) for word in _WORD.findall(decomposition.lower())}
    return tuple(word for word in _words_to_say(question) if _without_s(word) not in said)


@lru_cache(maxsize=1024)
def _words_to_say(question: str) -> tuple[str, ...]:
    words = dict.fromkeys(_WORD.findall(question.lower()))
    return tuple(word for word in words if word not in stop_words() and word not in skipped_words())


def _without_s(word: str) -> str:
    return word.rstrip("s")


@dataclass(frozen=True, slots=True)
class Coverage:
    """The positions of each word that a graph should have, and the penalty for each word that it leaves out."""

    penalty: float = 0.0
    places: tuple[tuple[int, ...], ...] = ()

    def cost(self, covered: Collection[int]) -> float:
        """The penalties of a graph whose edges end at these positions."""
        return self.penalty * sum(not any(place in covered for place in places) for places in self.places)


def coverage_of(tokens: Sequence[str], penalty: float) -> Coverage:
    """The words that a graph with these tokens should have; a penalty of 0 asks for none.

    If a word occurs twice, with or without an ``s`` at the end, one of the two is enough.

    >>> coverage_of(("show", "boats", "near", "the", "boat"), 1.5)
    Coverage(penalty=1.5, places=((1, 4), (2,)))
    """
    if not penalty:
        return Coverage()
    places: dict[str, list[int]] = {}
    for position, token in enumerate(tokens[: question_length(tokens)]):
        for word in _words_to_say(token):
            if word not in _ALWAYS_THERE:
                places.setdefault(_without_s(word), []).append(position)
    return Coverage(penalty, tuple(map(tuple, places.values())))
