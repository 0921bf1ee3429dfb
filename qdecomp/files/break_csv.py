"""Break's CSV files and their rows."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from qdecomp.data_structures.errors import DataError

from .text_files import open_text

__all__ = ["BreakExample", "read_break_csv", "source_of"]

_LARGEST_FIELD = 10_000_000


@dataclass(frozen=True, slots=True)
class BreakExample:
    """A row of Break's CSV; ``row`` is its line of data, counted from 1."""

    row: int
    question_id: str
    question: str
    decomposition: str | None
    operators: tuple[str, ...] = ()
    split: str = ""

    @property
    def source(self) -> str:
        """The data set that the question was taken from, such as ``ATIS``."""
        return source_of(self.question_id)


def source_of(question_id: str) -> str:
    """The first part of a Break id.

    >>> source_of("NLVR2_dev_dev-697-2-1")
    'NLVR2'
    """
    return question_id.split("_", 1)[0] if "_" in question_id else "other"


def read_break_csv(path: str | Path) -> list[BreakExample]:
    """Read Break's columns ``question_id, question_text, decomposition, operators, split``.

    Only ``question_id`` and ``question_text`` are needed; a row without a decomposition has None there.
    """
    csv.field_size_limit(_LARGEST_FIELD)
    with open_text(path) as stream:
        reader = csv.DictReader(stream)
        try:
            missing = {"question_id", "question_text"} - set(reader.fieldnames or ())
            if missing:
                raise DataError(f"{path}: not Break's CSV: no column {', '.join(sorted(missing))}")
            return [_example(number, row) for number, row in enumerate(reader, start=1)]
        except csv.Error as error:
            raise DataError(f"{path}: line {reader.line_num}: {error}") from None


def _example(number: int, row: dict[str, str | None]) -> BreakExample:
    operators = (row.get("operators") or "").strip("[] ")
    return BreakExample(
        row=number,
        question_id=(row["question_id"] or "").strip(),
        question=row["question_text"] or "",
        decomposition=(row.get("decomposition") or "").strip() or None,
        operators=tuple(name.strip(" '\"") for name in operators.split(",") if name.strip(" '\"")),
        split=row.get("split") or "",
    )
