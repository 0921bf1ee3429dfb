"""What a user should know about how the predictions of a file were read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from qdecomp.data_structures.reading import BREAK_FORM, Reading

__all__ = ["reading_lines"]

_WORDS_SHOWN = 12


def reading_lines(path: Path, readings: Sequence[Reading]) -> list[str]:
    """The forms that were found where they are not Break's text, and a warning where most look misread."""
    forms = Counter(reading.form for reading in readings)
    lines = []
    if set(forms) - {BREAK_FORM}:
        found = ", ".join(f"{count:,} as {form}" for form, count in forms.most_common())
        lines.append(f"{path}: predictions were read by their form: {found}")
    doubtful = [reading for reading in readings if reading.doubt is not None]
    if 2 * len(doubtful) > len(readings):
        first = doubtful[0]
        words = " ".join(first.text.split()[:_WORDS_SHOWN])
        lines.append(
            f"{path}: warning: {len(doubtful):,} of {len(readings):,} predictions do not look like decompositions; "
            f"of the first, {first.doubt}: {words!r} … Is this the right file or column? "
            "qdecomp prompt prints a prompt that makes a model write steps that can be read"
        )
    return lines
