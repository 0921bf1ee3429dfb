"""Break's CSV files and files of questions: the one place that knows the names of their fields."""

from __future__ import annotations

import csv
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qdecomp.data_structures.errors import DataError
from qdecomp.files.rows import FileKind, Row, RowFile
from qdecomp.files.store import RowStore

# If a row has several of them, the first one counts.
_QUESTION_NAMES = ("question_text", "question")
ID_NAMES = ("question_id", "id")
"""The fields that may hold a question's id; the first one that is there counts."""
_NAME = re.compile(r"[^\W\d][\w-]*\Z")
# A longer line is not a header, and reading it as one would cost time.
_LONGEST_HEADER = 10_000
_DELIMITERS = {"\t": "tabs", ";": "semicolons", "|": "bars"}


@dataclass(frozen=True, slots=True)
class BreakExample:
    """A question, and its decomposition if the file has one; ``row`` is its number, counted from 1."""

    row: int
    question_id: str
    question: str
    decomposition: str | None
    operators: tuple[str, ...] = ()
    split: str = ""
    error: str | None = None
    """Why the row cannot be read."""

    @property
    def source(self) -> str:
        """The data set that the question was taken from, such as ``ATIS``."""
        return source_of(self.question_id)

    @property
    def steps(self) -> int:
        """How many steps the decomposition has, whether or not they make sense.

        >>> BreakExample(1, "ATIS_1", "", "return flights ;;return #1 from denver ;return ").steps
        2
        """
        parts = (part.strip().lower() for part in (self.decomposition or "").split(";"))
        return sum(part not in ("", "return") for part in parts)


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
    return (example for _, example in iterate_break_rows(path))


def iterate_break_rows(path: str | Path) -> Iterator[tuple[Mapping[str, Any], BreakExample]]:
    """The examples of a file, each with all fields of its row."""
    file = RowFile(path)
    missing = [names[0] for names in (ID_NAMES, _QUESTION_NAMES) if first_of(names, file.columns) is None]
    if missing:
        raise DataError(f"{path}: not Break's CSV; missing columns: {', '.join(missing)}")
    for row in file:
        located = row._replace(error=row.error and f"line {row.line}: {row.error}")
        yield row.fields, _example(located, _QUESTION_NAMES, "", file.holds_objects)


def read_questions(path: str | Path, column: str | None = None) -> Iterator[BreakExample]:
    """The questions in a file, or in standard input if the path is ``-``, read lazily; none of them is lost.

    The first line that is not blank shows the format: one that names the column ``question_text`` or ``question`` is
    the header of a CSV, JSON begins with an object or an array, and everything else is text with one question per line.
    What looks like a table or like JSON but has no question, or none called ``column``, is a :class:`DataError` that
    says what it has. A blank line is an empty question in text and is skipped in the others. The id of a question
    without one is the number of its line.
    """
    file = RowFile(path)
    names = (column,) if column else _QUESTION_NAMES
    is_table = _is_table(file, names)
    for row in file if is_table else file.texts(names[0]):
        yield _example(row, names, str(row.line), not is_table)


def examples_of_values(values: Iterable[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], BreakExample]]:
    """Like :func:`iterate_break_rows`, for rows that are values; one without an id has its number."""
    for number, value in enumerate(values, start=1):
        yield value, _example(Row(number, dict(value)), _QUESTION_NAMES, str(number), True)


def question_from_json(value: Mapping[str, Any]) -> BreakExample:
    """The question of an object such as ``{"question_id": "a", "question": "which cubes are red ?"}``."""
    return _example(Row(1, dict(value)), _QUESTION_NAMES, "", True)


def _example(row: Row, names: Sequence[str], default_id: str, is_object: bool) -> BreakExample:
    cells, error = row.fields, row.error
    name = first_of(names, cells)
    question = None if name is None else cells[name]
    if is_object and error is None and not isinstance(question, str):
        error = f"this object has no string named {names[-1]}"
        question = None
    given = next((cells[name] for name in ID_NAMES if cells.get(name) not in (None, "")), "")
    operators = _text(cells.get("operators")).strip("[] ")
    return BreakExample(
        row=row.number,
        question_id=_text(given).strip() or default_id,
        question=_text(question),
        decomposition=None if error is not None else _text(cells.get("decomposition")).strip() or None,
        operators=tuple(name.strip(" '\"") for name in operators.split(",") if name.strip(" '\"")),
        split=_text(cells.get("split")),
        error=error,
    )


def first_of(names: Sequence[str], found: Container[str]) -> str | None:
    """The first of some names that is there."""
    return next((name for name in names if name in found), None)


def _text(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else str(value)


def _is_table(file: RowFile, names: Sequence[str]) -> bool:
    """Whether a file of questions is a table, and not text or JSON; raises if it has no questions."""
    wanted = " or ".join(names) if len(names) > 1 else repr(names[0])
    has_questions = first_of(names, file.columns) is not None
    if file.holds_objects or file.kind is FileKind.NOTHING:
        if file.columns and not has_questions:
            raise DataError(f"{file.name}: the first object has no {wanted}; {_found(file.columns, 'field')}")
        return False
    if has_questions:
        return True
    other = _other_delimiter(file.first)
    if file.kind is FileKind.CSV or len(names) == 1 or _looks_like_a_header(file.columns):
        raise DataError(f"{file.name}: there is no column {wanted}; {_found(file.columns, 'column')}{other}")
    if other:
        raise DataError(f"{file.name}: this looks like a table{other}")
    return False


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
        if _looks_like_a_header(cells):
            return f" (its columns, {', '.join(cells)}, are separated by {name}; separate them by commas)"
    return ""


def example_store(examples: Iterable[BreakExample] = ()) -> RowStore[BreakExample]:
    """Any number of examples in bounded memory, by place and by id."""
    store: RowStore[BreakExample] = RowStore()
    for example in examples:
        store.append(example, example.question_id)
    return store
