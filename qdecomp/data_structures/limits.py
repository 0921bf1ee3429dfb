"""How large an input may be, in one place.

Everything that grows has a limit, several times what people write, so that no input can exhaust a machine's time or
memory. What exceeds a limit is refused with a line that names it; below the limit, the work grows about as the input
does. In Break, the longest question has 289 characters and 49 words, the longest decomposition 591 characters and 21
steps, and the longest step 30 words.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

from qdecomp.data_structures.errors import Reason

_Result = TypeVar("_Result")

LONGEST_QUESTION = 2_000  # characters
MOST_WORDS = 200  # of a question, punctuation marks included
LONGEST_DECOMPOSITION = 10_000  # characters
LONGEST_ANSWER = 200_000  # characters of what a model writes around a decomposition, thoughts included
MOST_MEMBERS = 2_000  # of a list or an object, at any depth, that holds a decomposition
MOST_STEPS = 100
LONGEST_STEP = 2_000  # characters
MOST_STEP_WORDS = 200  # of a step, references included
LONGEST_REMEMBERED_STEP = 150  # characters of a step up to which it is remembered how it was read
MOST_TOKENS = 500  # of a graph, special ones included
MOST_EDGES = 10_000  # of a graph
MOST_EDGES_DRAWN = 200  # of a graph, or references between steps; a picture with more would be unreadable
MOST_ALIGNMENT_CHOICES = 1_000  # interdependent ways to align a word of a step with a word of the question
LARGEST_ARCHIVE = 8_000_000_000  # bytes of all files of a parser's archive
MOST_ARCHIVE_EXPANSION = 20  # times its own size that an archive may unpack to; weights hardly pack at all
MOST_ARCHIVE_FILES = 1_000  # files and folders of an archive


def above(limit: int, count: int, what: str) -> Reason | None:
    """Why so many are refused, or None if they are not."""
    return Reason(f"{{:,}} {what}; at most {{:,}} are allowed", count, limit) if count > limit else None


def cache_short(entries: int, longest: int) -> Callable[[Callable[[str], _Result]], Callable[[str], _Result]]:
    """Like ``lru_cache``, but longer texts are not remembered: bounded by entries alone, it holds what users send."""

    def decorate(function: Callable[[str], _Result]) -> Callable[[str], _Result]:
        remembered = lru_cache(maxsize=entries)(function)

        @wraps(function)
        def call(text: str) -> _Result:
            return remembered(text) if len(text) <= longest else function(text)

        return call

    return decorate
