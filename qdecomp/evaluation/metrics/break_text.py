"""A decomposition the way Break's official evaluator reads it, shared by its metrics.

It is more literal than :func:`~qdecomp.data_structures.qdmr.parse_qdmr`: any text is accepted, empty steps count,
and the letters ``return`` are removed wherever they occur, because Break's published scores depend on that.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from qdecomp.data_structures.errors import QdmrSyntaxError
from qdecomp.data_structures.qdmr import check_references

__all__ = ["REFERENCE", "BreakText", "flat_text", "mention", "parse_break_text"]

_SEPARATOR = " @@SEP@@ "
_TYPED_REFERENCE = re.compile(r"#(\d+)")

REFERENCE = re.compile(r"@@(\d{1,9})@@")
"""A reference inside a label. No step number has more than nine digits: a longer one is a word."""


def mention(number: int) -> str:
    """The text inside a label that refers to a step."""
    return f"@@{number}@@"


@dataclass(frozen=True, slots=True)
class BreakText:
    """The steps' labels: without ``return``, with references written ``@@2@@``; an ordinary one begins with a space."""

    labels: tuple[str, ...]

    @property
    def flat(self) -> str:
        """The whole as one line, which the metrics compare.

        >>> parse_break_text("return ewr ;return what  does #1 stand for").flat
        'ewr @@SEP@@ what does @@1@@ stand for'
        """
        return flat_text(self.labels)

    @property
    def references(self) -> tuple[tuple[int, ...], ...]:
        """For each step the numbers that it refers to, in order, with repetitions."""
        return tuple(tuple(int(number) for number in REFERENCE.findall(label)) for label in self.labels)

    @property
    def is_empty(self) -> bool:
        """Whether no step has any text."""
        return not any(label.strip() for label in self.labels)

    @property
    def problem(self) -> QdmrSyntaxError | None:
        """Why this is not a decomposition: it is empty, or its references lead nowhere.

        >>> print(parse_break_text("return cubes ;return color of #2").problem)
        step 2: refers to itself (#2)
        """
        if self.is_empty:
            return QdmrSyntaxError("there is no step")
        try:
            check_references(self.references)
        except QdmrSyntaxError as error:
            return error
        return None


def parse_break_text(text: str) -> BreakText:
    """Read any text; the order of the replacements is the official one."""
    parts = " ".join(text.split()).split(";")
    return BreakText(tuple(_TYPED_REFERENCE.sub(r"@@\1@@", part.strip().replace("return", "")) for part in parts))


def flat_text(labels: tuple[str, ...]) -> str:
    """The labels in one line; an empty one leaves only its separators."""
    return _SEPARATOR.join(label.replace("  ", " ").strip() for label in labels)
