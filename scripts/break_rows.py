"""Rows of Break's CSV as they are, for programs that choose or change rows and write them again."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

from qdecomp.data_structures.errors import DataError
from qdecomp.files import read_break_csv, write_text_atomically

COLUMNS = ("question_id", "question_text", "decomposition", "operators", "split")


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows with Break's columns; a column that the file does not have is empty."""
    values = (
        (
            example.question_id,
            example.question,
            example.decomposition or "",
            str(list(example.operators)),
            example.split,
        )
        for example in read_break_csv(path)
    )
    return [dict(zip(COLUMNS, row, strict=True)) for row in values]


def write_rows(path: Path, rows: Iterable[dict[str, str]], *inputs: Path) -> None:
    """Write a file that is complete or not there; none of the ``inputs`` is ever overwritten."""
    for source in inputs:
        if path.exists() and path.samefile(source):
            raise DataError(f"{path} is an input; choose another place for the output")
    path.parent.mkdir(parents=True, exist_ok=True)
    with write_text_atomically(path) as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
