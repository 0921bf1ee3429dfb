"""The rows of a CSV, one by one; a row whose quotes are not closed does not swallow the rows below it."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from qdecomp.files.readers.file_kinds import FileKind, kind_by_first_line
from qdecomp.files.readers.text_files import json_object, open_text

__all__ = ["NOT_CLOSED", "CsvRow", "CsvRows", "header_of", "read_table"]

NOT_CLOSED = "a quotation mark in this row of the CSV is not closed"
# A quoted field that spans this many lines was never closed.
_MAX_LINES_OF_A_ROW = 20
_LARGEST_FIELD = 10_000_000


class CsvRow(NamedTuple):
    """The cells of a row and the number of its first line, from 1; ``error`` says why it cannot be read as a whole."""

    line: int
    cells: list[str]
    error: str | None = None
    is_blank: bool = False


class CsvRows:
    """Takes the lines of a CSV and gives the rows that they complete.

    A row has several lines if a quoted field does. A row whose quotes are not closed, or only by those of a later row,
    counts as a single line with an error.

    >>> rows = CsvRows()
    >>> [row.cells for row in rows.add('a,"b\\n')]
    []
    >>> [row.cells for row in rows.add('c"\\n')]
    [['a', 'b\\nc']]
    """

    def __init__(self, line: int = 0) -> None:
        """``line`` is how many lines of the file came before."""
        csv.field_size_limit(_LARGEST_FIELD)
        self._line = line
        self._open: list[str] = []

    def add(self, text: str) -> Iterator[CsvRow]:
        """The rows that end with this line."""
        self._open.append(text)
        return self._rows(at_end=False)

    def end(self) -> Iterator[CsvRow]:
        """The rows that are still open at the end."""
        return self._rows(at_end=True)

    def _rows(self, at_end: bool) -> Iterator[CsvRow]:
        while self._open:
            cells, lines, error, is_open = _first_row(self._open)
            if is_open and not at_end and len(self._open) < _MAX_LINES_OF_A_ROW:
                return
            number, is_blank = self._line + 1, not self._open[0].strip()
            del self._open[:lines]
            self._line += lines
            yield CsvRow(number, cells, error, is_blank)


def read_table(path: str | Path) -> tuple[list[str], Iterator[CsvRow]]:
    """The columns and the rows of a CSV file, blank lines among them; the first line with words is the header.

    JSON lines are a table, too; the first object names the columns. The rows are read lazily.
    """
    rows = _header_and_rows(path)
    return next(rows).cells, rows


def _header_and_rows(path: str | Path) -> Iterator[CsvRow]:
    with open_text(path) as stream:
        columns: list[str] = []
        before = 0
        for line in stream:
            before += 1
            if line.strip():
                columns = header_of(line)
                break
        if columns and kind_by_first_line(line) is FileKind.JSON_LINES:
            names = list(json_object(line) or ())
            yield CsvRow(before, names)
            yield from _rows_of_objects(chain([line], stream), before - 1, names)
            return
        yield CsvRow(before, columns)
        rows = CsvRows(before)
        for line in stream:
            yield from rows.add(line)
        yield from rows.end()


def _rows_of_objects(lines: Iterable[str], before: int, columns: Sequence[str]) -> Iterator[CsvRow]:
    for number, line in enumerate(lines, start=before + 1):
        value = json_object(line)
        if value is None:
            blank = not line.strip()
            yield CsvRow(number, [], None if blank else "this line is not a JSON object", blank)
            continue
        cells = (value.get(column) for column in columns)
        yield CsvRow(number, ["" if cell is None else cell if isinstance(cell, str) else str(cell) for cell in cells])


def header_of(line: str) -> list[str]:
    """The names of the columns in the first line of a CSV."""
    return [cell.strip() for cell in _row_of_line(line)[0]]


def _first_row(lines: Sequence[str]) -> tuple[list[str], int, str | None, bool]:
    """The first row, how many lines it has, what is wrong with it, and whether further lines may complete it.

    It is wrong if its quotes end nowhere, or inside a field of a later line.
    """
    all_read = False

    def source() -> Iterator[str]:
        nonlocal all_read
        yield from lines
        all_read = True

    reader = csv.reader(source(), strict=True)
    try:
        return next(reader), reader.line_num, None, False
    except csv.Error:
        # A row on a single line may be careless with quotes.
        cells, error = _row_of_line(lines[0])
        if reader.line_num == 1 and not all_read:
            return cells, 1, error, False
        return cells, 1, NOT_CLOSED, all_read


def _row_of_line(line: str) -> tuple[list[str], str | None]:
    try:
        return next(csv.reader([line]), []), None
    except csv.Error as error:
        return [], f"this row of the CSV cannot be read: {error}"
