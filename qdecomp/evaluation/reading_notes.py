"""What a user should know about how the predictions of a file were read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from qdecomp.data_structures.reading import BREAK_FORM, Reading

__all__ = ["reading_lines"]

_WORDS_SHOWN = 12


def reading_lines(path: Path, readings: Iterable[Reading]) -> list[str]:
    """The forms that were found, if they are not Break's text, and a warning if most look misread."""
    forms: Counter[str] = Counter()
    doubtful = 0
    first: Reading | None = None
    for reading in readings:
        forms[reading.form] += 1
        if reading.doubt is not None:
            doubtful += 1
            first = first or reading
    lines = []
    if set(forms) - {BREAK_FORM}:
        found = ", ".join(f"{count:,} as {form}" for form, count in forms.most_common())
        lines.append(f"{path}: predictions were read by their form: {found}")
    if first is not None and 2 * doubtful > forms.total():
        words = " ".join(first.text.split()[:_WORDS_SHOWN])
        lines.append(
            f"{path}: warning: {doubtful:,} of {forms.total():,} predictions do not look like decompositions; "
            f"of the first, {first.doubt}: {words!r} … Is this the right file or column? "
            "qdecomp prompt prints a prompt that makes a model write steps that can be read"
        )
    return lines
