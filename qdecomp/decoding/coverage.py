"""Plans that cover the words of the question.

A network may skip a word of the question, such as one of two names, and still be confident. With a penalty for each
word that is left out, the next best plan wins if it has that word. Words that plans often leave out, such as "show me",
cost nothing. A graph covers the words at the ends of its edges.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.lexicon import skipped_words, stop_words
from qdecomp.data_structures.special_tokens import question_length

_WORD = re.compile(r"[^\W_]+")
# Every step of a written plan begins with it, so a graph need not cover it.
_ALWAYS_THERE = frozenset({"return"})


def check_penalty(penalty: float) -> None:
    """Raise unless it is a number from 0 to 1,000."""
    if isinstance(penalty, bool) or not isinstance(penalty, int | float) or not 0 <= penalty <= 1000:
        raise DataError(f"coverage_penalty is {str(penalty)[:20]!r}; give a number from 0 to 1,000")


def uncovered_words(question: str, decomposition: str) -> tuple[str, ...]:
    """The words of a question that a decomposition lacks, ignoring any ``s`` at the end.

    >>> uncovered_words("How many goals did Messi score, and Ronaldo?", "return goals of Ronaldo ;return number #1")
    ('messi', 'score')
    """
    covered = {word.rstrip("s") for word in _WORD.findall(decomposition.lower())}
    return tuple(word for word in _words_to_cover(question) if word.rstrip("s") not in covered)


@lru_cache(maxsize=1024)
def _words_to_cover(question: str) -> tuple[str, ...]:
    words = dict.fromkeys(_WORD.findall(question.lower()))
    return tuple(word for word in words if word not in stop_words() and word not in skipped_words())


@dataclass(frozen=True, slots=True)
class Coverage:
    """The positions of each word that a graph should cover, and the penalty for each word that it leaves out."""

    penalty: float = 0.0
    positions: tuple[tuple[int, ...], ...] = ()

    def cost(self, pairs: Iterable[tuple[int, int]]) -> float:
        """The penalties of a graph with edges between these pairs of positions."""
        covered = {position for pair in pairs for position in pair}
        return self.penalty * sum(map(covered.isdisjoint, self.positions))


def coverage_of(tokens: Sequence[str], penalty: float) -> Coverage:
    """The words that a graph with these tokens should cover; a penalty of 0 asks for none.

    If a word occurs twice, with or without a final ``s``, one of the two is enough.

    >>> coverage_of(("show", "boats", "near", "the", "boat"), 1.5)
    Coverage(penalty=1.5, positions=((1, 4), (2,)))
    """
    if not penalty:
        return Coverage()
    positions: dict[str, list[int]] = {}
    for position, token in enumerate(tokens[: question_length(tokens)]):
        for word in _words_to_cover(token):
            if word not in _ALWAYS_THERE:
                positions.setdefault(word.rstrip("s"), []).append(position)
    return Coverage(penalty, tuple(map(tuple, positions.values())))
