"""The rows of a file with their numbers, and what is wrong with a row that cannot be read.

Readers of one kind of file, such as Break's CSV or prediction files, are thin callers of this module. Questions have a
reader of their own, :mod:`.question_lines`, since they also come line by line from a pipe.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from qdecomp.data_structures.errors import DataError
from qdecomp.files.readers.csv_rows import read_table
from qdecomp.files.readers.text_files import try_json_lines

__all__ = ["FileRow", "json_rows", "table_rows"]


class FileRow(NamedTuple):
    """A row that is not blank: its number, from 1, and its fields by name.

    A row that cannot be read has an ``error``, and the fields that could be read all the same.
    """

    number: int
    fields: dict[str, Any]
    error: str | None = None


def table_rows(path: str | Path) -> tuple[list[str], Iterator[FileRow]]:
    """The columns of a CSV file, and its rows, which are read lazily. JSON lines are a table, too."""
    columns, rows = read_table(path)
    filled = enumerate((row for row in rows if not row.is_blank), start=1)
    return columns, (
        FileRow(number, dict(zip(columns, row.cells, strict=False)), row.error and f"line {row.line}: {row.error}")
        for number, row in filled
    )


def json_rows(path: str | Path) -> Iterator[FileRow]:
    """The objects of a file of JSON lines, numbered by their lines."""
    for number, value in try_json_lines(path):
        if isinstance(value, dict):
            yield FileRow(number, value)
        elif isinstance(value, DataError):
            yield FileRow(number, {}, "not JSON")
        else:
            yield FileRow(number, {}, f"a JSON {type(value).__name__}, not an object")
