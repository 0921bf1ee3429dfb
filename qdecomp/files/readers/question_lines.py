"""The questions in a file that is read line by line: plain text, JSON lines or a CSV."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from qdecomp.data_structures.errors import DataError
from qdecomp.files.readers.csv_rows import CsvRow, CsvRows, header_of
from qdecomp.files.readers.file_kinds import FileKind, kind_by_first_line
from qdecomp.files.readers.text_files import json_object

__all__ = ["QuestionLines", "QuestionRow", "question_from_json"]

_BYTE_ORDER_MARK = "\ufeff"
_QUESTION_NAMES = ("question_text", "question")
_ID_NAMES = ("question_id", "id")
_NAME = re.compile(r"[^\W\d][\w-]*\Z")
# A longer line is not a header, and reading it as one would cost time.
_LONGEST_HEADER = 10_000
_DELIMITERS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}


class QuestionRow(NamedTuple):
    """A question in a file; ``error`` says why it cannot be read."""

    question_id: str
    question: str
    error: str | None = None


class _Line(NamedTuple):
    number: int
    text: str


class QuestionLines:
    """Takes lines and gives the questions that they complete; none of them is lost.

    The first line that is not blank shows the format: one that names the column ``question_text`` or ``question`` is
    the header of a CSV, a JSON object begins JSON lines, and everything else is text with one question per line.
    What looks like a table or like JSON but has no question, or none called ``column``, is a :class:`DataError` that
    says what it has; a file that is known to be a ``table`` is never read as text. A blank line is an empty question in
    text and is skipped in the other two. The id of a question without one is the number of its line.

    >>> lines = QuestionLines()
    >>> lines.add("how many cubes are red ?\\n")
    [QuestionRow(question_id='1', question='how many cubes are red ?', error=None)]
    >>> lines.add("\\n")
    [QuestionRow(question_id='2', question='', error=None)]
    >>> lines.end()
    []
    """

    def __init__(self, column: str | None = None, *, table: bool = False) -> None:
        self._column = column
        self._table = table
        self._number = 0
        # Blank lines at the start, until the format says whether they are questions.
        self._waiting: list[_Line] = []
        self._format: _Format | None = None

    def add(self, line: str) -> list[QuestionRow]:
        """The questions that end with this line."""
        self._number += 1
        self._waiting.append(_Line(self._number, line.removeprefix(_BYTE_ORDER_MARK) if self._number == 1 else line))
        if self._format is None and line.strip(_BYTE_ORDER_MARK).strip():
            self._format = _format_of(self._waiting[-1].text, self._column, self._table)
        return [] if self._format is None else self._rows(self._format)

    def end(self) -> list[QuestionRow]:
        """The questions that are still open at the end."""
        last = self._format or _Text(None)
        return [*self._rows(last), *last.end()]

    def _rows(self, file_format: _Format) -> list[QuestionRow]:
        rows = [row for line in self._waiting for row in file_format.add(line)]
        self._waiting.clear()
        return rows


def question_from_json(value: Mapping[str, Any], default_id: str = "", column: str | None = None) -> QuestionRow:
    """The question of an object such as ``{"question_id": "a", "question": "which cubes are red ?"}``."""
    given = next((value[name] for name in _ID_NAMES if value.get(name) not in (None, "")), None)
    question_id = default_id if given is None else str(given)
    name = _question_name(value, column)
    question = None if name is None else value[name]
    if not isinstance(question, str):
        return QuestionRow(question_id, "", f"this object has no string named {column or 'question'}")
    return QuestionRow(question_id, question)


class _Format(Protocol):
    def add(self, line: _Line) -> Iterator[QuestionRow]:
        """The questions that end with this line."""

    def end(self) -> Iterator[QuestionRow]:
        """The questions that are still open."""


def _format_of(line: str, column: str | None, table: bool) -> _Format:
    kind = kind_by_first_line(line)
    if kind is FileKind.JSON_ARRAY:
        raise DataError("this is a JSON array; write its members as JSON lines, one object per line")
    if kind is FileKind.JSON_LINES:
        value = json_object(line)
        if value is not None and _question_name(value, column) is None:
            raise DataError(f"the first object has no {_wanted(column)}; {_found(list(value), 'field')}")
        return _JsonLines(column)
    header = header_of(line)
    name = _question_name(dict.fromkeys(header), column)
    if name is not None:
        return _Table(name)
    if table or column is not None or _looks_like_a_header(header):
        raise DataError(f"there is no column {_wanted(column)}; {_found(header, 'column')}{_other_delimiter(line)}")
    if _other_delimiter(line):
        raise DataError(f"this looks like a table{_other_delimiter(line)}")
    return _Text(None)


def _question_name(found: Mapping[str, Any], column: str | None) -> str | None:
    return next((name for name in ((column,) if column else _QUESTION_NAMES) if name in found), None)


def _wanted(column: str | None) -> str:
    return repr(column) if column else " or ".join(_QUESTION_NAMES)


def _found(names: Sequence[str], kind: str) -> str:
    shown = ", ".join(str(name)[:40] for name in names[:12]) or "none"
    return f"found {kind}s: {shown}; use --column NAME to say which one has the questions"


def _looks_like_a_header(cells: Sequence[str]) -> bool:
    """Whether a line consists of two or more names and nothing else, unlike any question."""
    return len(cells) > 1 and all(_NAME.match(cell) for cell in cells)


def _other_delimiter(line: str) -> str:
    if len(line) > _LONGEST_HEADER:
        return ""
    for delimiter, name in _DELIMITERS.items():
        cells = [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter), [])]
        if delimiter != "," and _looks_like_a_header(cells):
            return f" (its columns, {', '.join(cells)}, are separated by {name}; separate them by commas)"
    return ""


class _Text:
    """One question per line; a line that is a JSON object is still read as one."""

    def __init__(self, column: str | None) -> None:
        self._column = column

    def add(self, line: _Line) -> Iterator[QuestionRow]:
        text = line.text.strip()
        value = json_object(text)
        number = str(line.number)
        yield QuestionRow(number, text) if value is None else question_from_json(value, number, self._column)

    def end(self) -> Iterator[QuestionRow]:
        yield from ()


class _JsonLines(_Text):
    def add(self, line: _Line) -> Iterator[QuestionRow]:
        if line.text.strip():
            yield from super().add(line)


class _Table:
    """A CSV; the first line that is not blank is its header."""

    def __init__(self, question_column: str) -> None:
        self._question_column = question_column
        self._columns: list[str] = []
        self._rows: CsvRows | None = None

    def add(self, line: _Line) -> Iterator[QuestionRow]:
        if self._rows is not None:
            yield from self._questions(self._rows.add(line.text))
        elif line.text.strip():
            self._columns, self._rows = header_of(line.text), CsvRows(line.number)

    def end(self) -> Iterator[QuestionRow]:
        if self._rows is not None:
            yield from self._questions(self._rows.end())

    def _questions(self, rows: Iterator[CsvRow]) -> Iterator[QuestionRow]:
        for row in rows:
            if not row.is_blank:
                cells = dict(zip(self._columns, row.cells, strict=False))
                given = next((cells[name] for name in _ID_NAMES if cells.get(name)), None)
                yield QuestionRow(given or str(row.line), cells.get(self._question_column, ""), row.error)
