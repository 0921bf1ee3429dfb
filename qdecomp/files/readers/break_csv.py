"""Break's CSV files and their rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from qdecomp.data_structures.errors import DataError
from qdecomp.files.readers.file_rows import FileRow, table_rows

__all__ = ["BreakExample", "iterate_break_csv", "read_break_csv", "source_of"]


@dataclass(frozen=True, slots=True)
class BreakExample:
    """A row of Break's CSV; ``row`` is its number, counted from 1."""

    row: int
    question_id: str
    question: str
    decomposition: str | None
    operators: tuple[str, ...] = ()
    split: str = ""
    error: str | None = None
    """Why the row cannot be read, with its line in the file."""

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

    Only ``question_id`` and ``question_text`` are needed; a row without a decomposition has None there. A row that
    cannot be read as a whole, such as one whose quotes are not closed, has an ``error`` and no decomposition.
    """
    return list(iterate_break_csv(path))


def iterate_break_csv(path: str | Path) -> Iterator[BreakExample]:
    """Like :func:`read_break_csv`, but one row at a time, for files of any size."""
    columns, rows = table_rows(path)
    missing = {"question_id", "question_text"} - set(columns)
    if missing:
        raise DataError(f"{path}: not Break's CSV; missing columns: {', '.join(sorted(missing))}")
    return map(_example, rows)


def _example(row: FileRow) -> BreakExample:
    cells = row.fields
    operators = cells.get("operators", "").strip("[] ")
    return BreakExample(
        row=row.number,
        question_id=cells.get("question_id", "").strip(),
        question=cells.get("question_text", ""),
        decomposition=None if row.error is not None else cells.get("decomposition", "").strip() or None,
        operators=tuple(name.strip(" '\"") for name in operators.split(",") if name.strip(" '\"")),
        split=cells.get("split", ""),
        error=row.error,
    )
