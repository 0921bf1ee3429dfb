"""The rows of a file with their numbers, and what is wrong with a row that cannot be read.

Readers of one kind of file, such as Break's CSV or prediction files, are thin callers of this module. Questions have a
reader of their own, :mod:`.question_lines`, since they also come line by line from a pipe.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

from qdecomp.data_structures.errors import DataError

from .csv_rows import read_table
from .text_files import text_suffix, try_json_lines

__all__ = ["FileKind", "FileRow", "json_rows", "kind_by_name", "table_rows"]


class FileKind(Enum):
    """What a file is by its name."""

    CSV = (".csv",)
    JSON_LINES = (".json", ".jsonl", ".ndjson")
    OTHER = ()


class FileRow(NamedTuple):
    """A row that is not blank: its number, from 1, and its fields by name.

    A row that cannot be read has an ``error``, and the fields that could be read all the same.
    """

    number: int
    fields: dict[str, Any]
    error: str | None = None


def kind_by_name(path: str | Path) -> FileKind:
    """What a file is by the end of its name, without that of its compression.

    >>> kind_by_name("predictions.jsonl.gz").name, kind_by_name("questions.txt").name
    ('JSON_LINES', 'OTHER')
    """
    suffix = text_suffix(path)
    return next((kind for kind in FileKind if suffix in kind.value), FileKind.OTHER)


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
