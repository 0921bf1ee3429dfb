"""Plans that cover the words of the question.

A network that writes may skip a word of the question, such as one of two names, and still be confident. With a penalty
for each word that is left out, the next best plan wins if it has that word. Words that plans often leave out, such as
"show me", cost nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.lexicon import skipped_words, stop_words

__all__ = ["check_penalty", "unsaid_words"]

_HIGHEST_PENALTY = 1000
_WORD = re.compile(r"[^\W_]+")


def check_penalty(penalty: float) -> None:
    """Raise unless it is a number, 0 or more, that a sum can hold."""
    if isinstance(penalty, bool) or not isinstance(penalty, int | float) or not 0 <= penalty <= _HIGHEST_PENALTY:
        raise DataError(f"coverage_penalty is {str(penalty)[:20]!r}; give a number from 0 to {_HIGHEST_PENALTY:,}")


def unsaid_words(question: str, decomposition: str) -> tuple[str, ...]:
    """The words of a question that a decomposition has neither as they are nor with or without an ``s`` at the end.

    >>> unsaid_words("How many more goals did Messi score than Ronaldo?", "return goals of Ronaldo ;return number #1")
    ('messi', 'score')
    """
    said = {word.rstrip("s") for word in _WORD.findall(decomposition.lower())}
    return tuple(word for word in _words_to_say(question) if word.rstrip("s") not in said)


@lru_cache(maxsize=1024)
def _words_to_say(question: str) -> tuple[str, ...]:
    words = dict.fromkeys(_WORD.findall(question.lower()))
    return tuple(word for word in words if word not in stop_words() and word not in skipped_words())
