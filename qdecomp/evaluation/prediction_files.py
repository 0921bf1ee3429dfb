"""The rows of a prediction file, as they are written: JSON lines or a CSV."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qdecomp.data_structures.errors import DataError
from qdecomp.evaluation.row_problems import ProblemKind, RowProblem
from qdecomp.files.readers.csv_rows import CsvRow, read_table
from qdecomp.files.readers.file_kinds import FileKind, kind_of_file
from qdecomp.files.readers.file_rows import FileRow, json_rows

__all__ = ["HOW_RECORDS_LOOK", "WrittenRow", "holds_json", "written_rows"]

HOW_RECORDS_LOOK = 'a record is one line such as {"question_id": "…", "decomposition": "return …"}'
"""For messages."""


@dataclass(frozen=True, slots=True)
class WrittenRow:
    """What a row of a prediction file says, before it is matched with a question."""

    number: int
    question_id: str | None
    decomposition: Any
    error: str | None = None


def holds_json(path: Path) -> bool:
    """Whether a file has JSON lines; an empty file and a JSON array are a :class:`DataError`."""
    kind = kind_of_file(path)
    if kind is FileKind.NOTHING:
        raise DataError(f"{path}: the file is empty; there are no predictions in it")
    if kind is FileKind.JSON_ARRAY:
        raise DataError(f"{path}: this is a JSON array; write its members as JSON lines; {HOW_RECORDS_LOOK}")
    return kind is FileKind.JSON_LINES


def written_rows(path: Path, column: str) -> tuple[bool, Iterator[WrittenRow | RowProblem]]:
    """Whether the rows name their questions, and the rows, which are read lazily."""
    if holds_json(path):
        return True, (_json_row(row, column) for row in json_rows(path))
    header, rows = read_table(path)
    if column not in header:
        found = ", ".join(cell[:40] for cell in header[:12])
        raise DataError(
            f"{path}: neither prediction records nor a CSV with a column {column}; found columns: {found}; "
            f"use --column NAME to say which one has the decompositions; {HOW_RECORDS_LOOK}"
        )
    filled = enumerate(_without_blank_lines(rows, len(header)), start=1)
    return "question_id" in header, (_csv_row(number, header, row, column) for number, row in filled)


def _json_row(row: FileRow, column: str) -> WrittenRow | RowProblem:
    record = row.fields
    wrong = row.error or _what_is_wrong(record, column)
    if wrong is not None:
        question_id = record.get("question_id")
        known_id = question_id if isinstance(question_id, str) else None
        return RowProblem(ProblemKind.MALFORMED, row.number, known_id, wrong)
    error = record.get("error")
    return WrittenRow(row.number, record["question_id"].strip(), record[column], error and str(error))


def _what_is_wrong(record: Mapping[str, Any], column: str) -> str | None:
    question_id = record.get("question_id")
    if not isinstance(question_id, str) or not question_id.strip():
        return "no question_id"
    if column not in record:
        return (
            f"no {column}; found fields: {', '.join(record)}; use --column NAME to say which one has the decomposition"
        )
    if not isinstance(record[column], str | list | dict | None):
        return f"the {column} is a JSON {type(record[column]).__name__}, not a string or a list of steps"
    return None


def _without_blank_lines(rows: Iterable[CsvRow], width: int) -> Iterator[CsvRow]:
    """Leave out blank lines; in a file of one column a blank line before others is an empty prediction."""
    blank: list[CsvRow] = []
    for row in rows:
        if row.cells:
            yield from (empty._replace(cells=[""]) for empty in blank)
            yield row
            blank = []
        elif width == 1:
            blank.append(row)


def _csv_row(number: int, columns: Sequence[str], csv_row: CsvRow, column: str) -> WrittenRow | RowProblem:
    cells = csv_row.cells
    if csv_row.error is not None:
        known_id = dict(zip(columns, cells, strict=False)).get("question_id", "").strip() or None
        return RowProblem(ProblemKind.MALFORMED, number, known_id, f"line {csv_row.line}: {csv_row.error}")
    if len(cells) != len(columns):
        message = f"{len(cells)} cells, but the header has {len(columns)}; text with commas must be quoted"
        return RowProblem(ProblemKind.MALFORMED, number, None, message)
    row = dict(zip(columns, cells, strict=True))
    if "question_id" in row and not row["question_id"].strip():
        return RowProblem(ProblemKind.MALFORMED, number, None, "no question_id")
    question_id = row["question_id"].strip() if "question_id" in row else None
    return WrittenRow(number, question_id, row[column], row.get("error") or None)
