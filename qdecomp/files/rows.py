"""One reader for the rows of every file: CSV, JSON lines, a JSON array, Parquet, plain text, and what is piped in.

What a file is depends on its first line if that is JSON, and otherwise on its name.
"""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Iterator, Sequence
from enum import Enum, auto
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from qdecomp.data_structures.errors import DataError
from qdecomp.files.sources import PARQUET_MAGIC, files_of, open_unpacked, parquet_records, text_suffix

STANDARD_INPUT = Path("-")

NOT_CLOSED = "a quotation mark in this row of the CSV is not closed"
# A quoted field that spans this many lines was never closed.
_MAX_LINES_OF_A_ROW = 20
_LARGEST_FIELD = 10_000_000


class Row(NamedTuple):
    """A row of a file: its number, from 1, and its fields by name.

    A row that cannot be read has an ``error``, and the fields that could be read all the same. Rows of a CSV are
    counted without blank lines; all others have the number of their ``line``.
    """

    number: int
    fields: dict[str, Any]
    error: str | None = None
    line: int = 0


class FileKind(Enum):
    """What a file holds; ``OTHER`` is a table or plain text, and ``NOTHING`` has blank lines at most."""

    CSV = auto()
    JSON_LINES = auto()
    JSON_ARRAY = auto()
    PARQUET = auto()
    OTHER = auto()
    NOTHING = auto()


_BY_SUFFIX = {
    **dict.fromkeys((".csv", ".tsv"), FileKind.CSV),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), FileKind.JSON_LINES),
}
# The beginning is enough, so that an object that is cut off does not become a CSV's header.
_BEGINNINGS = {
    re.compile(r'\s*\{\s*(?:\Z|[}"])'): FileKind.JSON_LINES,
    re.compile(r'\s*\[\s*(?:\Z|[\[{"])'): FileKind.JSON_ARRAY,
}


class RowFile:
    """A file whose rows can be iterated over once; they are read as they are needed.

    ``path`` may be a file, a folder of parts, an address, or ``-`` for standard input.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = path
        self.name = "standard input" if Path(path) == STANDARD_INPUT else str(path)
        """What messages call it."""
        content = _content(path)
        # Up to the first line that is not blank.
        start: list[str | dict[str, Any]] = []
        for each in content:
            start.append(each)
            if isinstance(each, dict) or each.strip():
                break
        self._lines_before = len(start)
        self._content: Iterator[str | dict[str, Any]] = chain(start, content)
        first = start[-1] if start else ""
        self.first = first if isinstance(first, str) and first.strip() else ""
        """The first line that is not blank."""
        if isinstance(first, dict):
            self.kind = FileKind.PARQUET
        elif not self.first:
            self.kind = FileKind.NOTHING
        else:
            by_name = _BY_SUFFIX.get(text_suffix(path), FileKind.OTHER)
            by_content = (kind for beginning, kind in _BEGINNINGS.items() if beginning.match(self.first))
            self.kind = next(by_content, by_name)
        self.holds_objects = self.kind in (FileKind.JSON_LINES, FileKind.JSON_ARRAY, FileKind.PARQUET)
        """Whether the rows are objects, not lines of a table or a text."""
        self.columns = (
            list(first if isinstance(first, dict) else json_object(first) or ())
            if self.holds_objects
            else [cell.strip() for cell in _row_of_line(self.first)[0]]
        )
        """The columns of a table, or the fields of the first object."""

    def __iter__(self) -> Iterator[Row]:
        """The rows of a table or the objects of a file; what is neither is read as a table."""
        if self.kind is FileKind.JSON_ARRAY:
            return (_row_of_value(number, value) for number, value in enumerate(self.members(), start=1))
        return self._objects() if self.holds_objects else self._table()

    def one_object(self) -> dict[str, Any] | None:
        """The object that the file is as a whole, on however many lines, or None; this reads all of it."""
        lines = list(self._content)
        self._content = iter(lines)
        return json_object("".join(map(str, lines)))

    def members(self) -> list[Any]:
        """The members of a JSON array, which is read as a whole."""
        try:
            return list(json.loads("".join(map(str, self._content))))
        except (ValueError, RecursionError) as error:
            raise DataError(f"{self.name}: this JSON array cannot be read ({error})") from None

    def texts(self, field: str) -> Iterator[Row]:
        """Every line as a row whose ``field`` is its text, unless the line is an object.

        Blank lines are rows of a text, but mean nothing between objects. An object that is cut off has an error.
        """
        if self.kind is FileKind.JSON_ARRAY:
            members = ({field: each} if isinstance(each, str) else each for each in self.members())
            yield from (_row_of_value(number, value) for number, value in enumerate(members, start=1))
            return
        for number, line in enumerate(self._content, start=1):
            value = line if isinstance(line, dict) else json_object(line)
            if value is not None:
                yield Row(number, value, None, number)
            elif not isinstance(line, dict) and (not self.holds_objects or line.strip()):
                error = "not JSON" if self.holds_objects and line.lstrip().startswith("{") else None
                yield Row(number, {field: line.strip()}, error, number)

    def _objects(self) -> Iterator[Row]:
        for number, line in enumerate(self._content, start=1):
            if isinstance(line, dict):
                yield Row(number, line, None, number)
            elif line.strip():
                try:
                    yield _row_of_value(number, json.loads(line))
                except (ValueError, RecursionError):
                    yield Row(number, {}, "not JSON", number)

    def _table(self) -> Iterator[Row]:
        columns, number = self.columns, 0
        # In a table of one column, a blank line before other rows is an empty cell.
        blank: list[int] = []
        below = islice(map(str, self._content), self._lines_before, None)
        for line, cells, error in _csv_rows(below, self._lines_before):
            if error is None and (not cells or (len(cells) == 1 and cells[0].isspace())):
                blank += [line] if len(columns) == 1 else []
                continue
            for each in blank:
                number += 1
                yield Row(number, {columns[0]: ""}, None, each)
            blank.clear()
            number += 1
            if error is None and any(map(str.strip, cells[len(columns) :])):
                error = f"{len(cells)} cells, but the header has {len(columns)}; text with commas must be quoted"
            yield Row(number, dict(zip(columns, cells, strict=False)), error, line)


def read_json_lines(path: str | Path) -> Iterator[tuple[int, Any]]:
    """The objects of a file with their line numbers; a line that is not an object is a :class:`DataError`."""
    for row in RowFile(path)._objects():
        if row.error is not None:
            raise DataError(f"{path}: line {row.number} is {row.error}")
        yield row.number, row.fields


def json_object(text: str | bytes) -> dict[str, Any] | None:
    """The object that a line is; None if it is anything else.

    >>> json_object('{"a": 1}'), json_object("[1]")
    ({'a': 1}, None)
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _row_of_value(number: int, value: Any) -> Row:
    if isinstance(value, dict):
        return Row(number, value, None, number)
    return Row(number, {}, f"a JSON {type(value).__name__}, not an object", number)


def _content(path: str | Path) -> Iterator[str | dict[str, Any]]:
    """The lines of a text, or the records of Parquet."""
    if Path(path) == STANDARD_INPUT:
        yield from _standard_input()
        return
    for file in files_of(path):
        with open_unpacked(file) as content:
            if content.peek(len(PARQUET_MAGIC)).startswith(PARQUET_MAGIC):
                yield from parquet_records(content, file)
            else:
                yield from io.TextIOWrapper(content, encoding="utf-8-sig", newline="")


def _standard_input() -> Iterator[str]:
    stream = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8-sig", newline="")
    try:
        yield from stream
    except UnicodeDecodeError as error:
        raise DataError(f"standard input: not UTF-8 text ({error.reason} at byte {error.start})") from None
    finally:
        # Closing it here would close the program's own standard input.
        stream.detach()


# CSV. A row whose quotes are not closed does not swallow the rows below it.


def _csv_rows(lines: Iterator[str], before: int = 0) -> Iterator[tuple[int, list[str], str | None]]:
    """The number of the first line, the cells and the error of each row, after so many lines.

    A row has several lines if a quoted field does. A row whose quotes are not closed, or only by those of a later row,
    counts as a single line with an error.

    >>> [cells for _, cells, _ in _csv_rows(iter(['a,"b\\n', 'c"\\n']))]
    [['a', 'b\\nc']]
    """
    csv.field_size_limit(_LARGEST_FIELD)
    waiting: list[str] = []
    for line in chain(lines, [None]):
        if line is not None:
            waiting.append(line)
        while waiting:
            cells, used, error, is_open = _first_row(waiting)
            if is_open and line is not None and len(waiting) < _MAX_LINES_OF_A_ROW:
                break
            yield before + 1, cells, error
            del waiting[:used]
            before += used


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
