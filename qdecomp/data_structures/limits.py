"""How large an input may be, in one place.

Everything that grows has a limit, several times what people write, so that no input can exhaust a machine's time or
memory. What exceeds a limit is refused with a line that names it; below the limit, the work grows about as the input
does. In Break, the longest question has 289 characters and 49 words, the longest decomposition 591 characters and 21
steps, and the longest step 30 words.

What is remembered about texts is bounded by size, too: :func:`cache_short` remembers only short ones.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

from qdecomp.data_structures.errors import Reason

_Result = TypeVar("_Result")

LONGEST_QUESTION = 2_000
"""Characters of a question."""

MOST_WORDS = 200
"""Words of a question, punctuation marks included."""

LONGEST_DECOMPOSITION = 10_000
"""Characters of a decomposition."""

LONGEST_ANSWER = 200_000
"""Characters of a model's answer, thoughts and explanations included, in which a decomposition is looked for."""

MOST_MEMBERS = 2_000
"""Members of a list or an object, at any depth, that holds a decomposition."""

MOST_STEPS = 100
"""Steps of a decomposition or of a logical form."""

LONGEST_STEP = 2_000
"""Characters of a step."""

MOST_STEP_WORDS = 200
"""Words and references of a step."""

MOST_TOKENS = 500
"""Tokens of a graph, special ones included."""

MOST_EDGES = 10_000
"""Edges of a graph."""

MOST_EDGES_DRAWN = 200
"""Edges of a graph, or references between steps, that are drawn; a picture with more would be unreadable."""

MOST_ALIGNMENT_CHOICES = 1_000
"""Interdependent ways to align a word of a step with a word of the question."""

LONGEST_REMEMBERED_STEP = 150
"""Characters of a step up to which it is remembered how it was read."""

LARGEST_ARCHIVE = 8_000_000_000
"""Bytes of all files of a parser's archive."""

MOST_ARCHIVE_EXPANSION = 20
"""How many times its own size an archive of some size may unpack to; weights hardly pack at all."""

MOST_ARCHIVE_FILES = 1_000
"""Files and folders of an archive."""


def above(limit: int, count: int, what: str) -> Reason | None:
    """Why so many are refused, or None if they are not.

    >>> above(100, 300, "steps")
    '300 steps; at most 100 are allowed'
    >>> above(100, 100, "steps")
    """
    return Reason(f"{{:,}} {what}; at most {{:,}} are allowed", count, limit) if count > limit else None


def cache_short(entries: int, longest: int) -> Callable[[Callable[[str], _Result]], Callable[[str], _Result]]:
    """Like ``functools.lru_cache``, for a function of a text, but a text of more characters is not remembered.

    A cache that is bounded only by its entries holds as much as users send: 65,536 steps of 2,000 characters are a
    gigabyte.

    >>> @cache_short(entries=100, longest=5)
    ... def words(text: str) -> list[str]:
    ...     return text.split()
    >>> words("a b") is words("a b"), words("a b c d") is words("a b c d")
    (True, False)
    """

    def decorate(function: Callable[[str], _Result]) -> Callable[[str], _Result]:
        remembered = lru_cache(maxsize=entries)(function)

        @wraps(function)
        def call(text: str) -> _Result:
            return remembered(text) if len(text) <= longest else function(text)

        return call

    return decorate
