"""How large an input may be, in one place.

Everything that grows has a limit, several times what people write, so that no input can exhaust a machine's time or
memory. What exceeds a limit is refused with a line that names it; below the limit, the work grows about as the input
does. In Break, the longest question has 289 characters and 49 words, the longest decomposition 591 characters and 21
steps, and the longest step 30 words.
"""

from __future__ import annotations

from qdecomp.data_structures.errors import Reason

__all__ = [
    "LARGEST_ARCHIVE",
    "LONGEST_DECOMPOSITION",
    "LONGEST_QUESTION",
    "LONGEST_STEP",
    "MOST_ALIGNMENT_CHOICES",
    "MOST_ARCHIVE_EXPANSION",
    "MOST_ARCHIVE_FILES",
    "MOST_EDGES",
    "MOST_EDGES_DRAWN",
    "MOST_STEPS",
    "MOST_STEP_WORDS",
    "MOST_TOKENS",
    "MOST_WORDS",
    "above",
]

LONGEST_QUESTION = 2_000
"""Characters of a question."""

MOST_WORDS = 200
"""Words of a question, punctuation marks included."""

LONGEST_DECOMPOSITION = 10_000
"""Characters of a decomposition."""

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
