"""The tokens that are appended to every question, so that a graph over tokens can say what the question does not.

All of them are always appended, in this order: the separator ``[RSC]``, the resource words (for concepts that the
question does not name), as many ``[DUP]`` as steps may copy tokens of other steps, and as many ``[DUM]`` as steps may
be empty.

Each costs every parser time on every question, and each makes some questions convertible. Of 19,252 training rows of
Break (2.7% of which have no published logical form), 97.89% became graphs and 92.01% came back as they were without
resource words; 99.90% and 97.05% do with those of the ``default``, and eight more save six rows or fewer each. No row
needs more than its five ``[DUP]`` (16 need more than three), and 5 need more than its five ``[DUM]``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from qdecomp.data_structures.errors import DataError, GraphError, Reason

SEPARATOR = "[RSC]"  # between the question and the other special tokens
DUPLICATE_TOKEN = "[DUP]"  # copies a token that several steps need
DUMMY = "[DUM]"  # stands for a step that has no token of its own


@dataclass(frozen=True, slots=True)
class SpecialTokens:
    """The resource words, and the numbers of ``[DUP]`` and ``[DUM]`` tokens."""

    resources: tuple[str, ...]
    duplicates: int
    dummies: int

    def __post_init__(self) -> None:
        if min(self.duplicates, self.dummies) < 0:
            raise GraphError("special tokens", "a number of tokens below zero")
        if len(set(self.resources)) < len(self.resources):
            raise GraphError("special tokens", "a resource word is given twice")

    @property
    def words(self) -> tuple[str, ...]:
        """The separator and the resource words: those that a span graph knows."""
        return (SEPARATOR, *self.resources)

    @property
    def appended(self) -> tuple[str, ...]:
        """All special tokens in their order."""
        return self.words + (DUPLICATE_TOKEN,) * self.duplicates + (DUMMY,) * self.dummies


def question_length(tokens: Sequence[str]) -> int:
    """How many of a graph's tokens are the question's: those before the separator, or all if there is none."""
    return tokens.index(SEPARATOR) if SEPARATOR in tokens else len(tokens)


def words_end(tokens: Sequence[str]) -> int:
    """Where the ``[DUP]`` and ``[DUM]`` tokens begin: after the question, the separator and the resource words."""
    start = question_length(tokens)
    return next((i for i in range(start, len(tokens)) if tokens[i] in (DUPLICATE_TOKEN, DUMMY)), len(tokens))


def check_tokens(tokens: Sequence[str], stage: str) -> None:
    """Raise unless these are tokens without spaces, with the special ones in their places."""
    for position, token in enumerate(tokens):
        if token.split() != [token]:
            reason = Reason("the token at position {} is empty or contains a space: {!r}", position, token)
            raise GraphError(stage, reason)
    end = words_end(tokens)
    words, placeholders = tokens[:end], tokens[end:]
    if words.count(SEPARATOR) > 1 or DUPLICATE_TOKEN in words or DUMMY in words:
        raise GraphError(stage, Reason("a question may not contain {}, {} or {}", SEPARATOR, DUPLICATE_TOKEN, DUMMY))
    if set(placeholders) - {DUPLICATE_TOKEN, DUMMY}:
        raise GraphError(stage, Reason("only {} and {} may follow the resource words", DUPLICATE_TOKEN, DUMMY))


PRESETS: Mapping[str, SpecialTokens] = {
    "paper": SpecialTokens(
        ("height", "population", "size", "elevation", "flights", "objects", "price", "date", "true", "false"), 5, 5
    ),
    "default": SpecialTokens(
        (
            *("flights", "size", "number", "equal", "height", "most", "at"),
            *("least", "one", "date", "100", "objects", "two", "population"),
        ),
        duplicates=5,
        dummies=5,
    ),
}
"""The special tokens of the paper, and those that parsers have by default."""


def special_tokens_of(setting: str | Mapping[str, Any] | None) -> SpecialTokens | None:
    """What a config names, or spells out as ``resources``, ``duplicates`` and ``dummies``; None for none."""
    if setting is None:
        return None
    if not isinstance(setting, str):
        try:
            return SpecialTokens(**{**setting, "resources": tuple(setting["resources"])})
        except (KeyError, TypeError):
            raise DataError(f"special tokens must have resources, duplicates and dummies, not {setting!r}") from None
    if setting not in PRESETS:
        raise DataError(f"there are no special tokens called {setting!r}; choose from {', '.join(PRESETS)}")
    return PRESETS[setting]
