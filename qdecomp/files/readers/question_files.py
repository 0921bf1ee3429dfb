"""All questions in a file, or in what another program pipes in."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from qdecomp.data_structures.errors import DataError
from qdecomp.files.readers.file_kinds import FileKind, kind_by_name
from qdecomp.files.readers.question_lines import QuestionLines, QuestionRow
from qdecomp.files.readers.text_files import open_text
from qdecomp.files.row_store.spilled_rows import SpilledRows

__all__ = ["STANDARD_INPUT", "read_questions", "something_is_piped_in"]

STANDARD_INPUT = Path("-")


def read_questions(path: Path, column: str | None = None) -> Sequence[QuestionRow]:
    """All questions in a file, or in standard input if the path is ``-``; a file without any is an error.

    There may be any number of them: all but the first are kept on disk.
    """
    rows = SpilledRows(_iterate_questions(path, column))
    if not rows:
        raise DataError(f"{_name(path)}: there are no questions in it")
    return rows.frozen()


def _iterate_questions(path: Path, column: str | None) -> Iterator[QuestionRow]:
    lines = QuestionLines(column, table=kind_by_name(path) is FileKind.CSV)
    with _standard_input() if path == STANDARD_INPUT else open_text(path) as stream:
        for line in stream:
            yield from _added(lines, line, path)
    yield from lines.end()


def _added(lines: QuestionLines, line: str, path: Path) -> list[QuestionRow]:
    try:
        return lines.add(line)
    except DataError as error:
        raise DataError(f"{_name(path)}: {error}") from None


def _name(path: Path) -> str:
    return "standard input" if path == STANDARD_INPUT else str(path)


def something_is_piped_in() -> bool:
    """Whether standard input is a pipe or a file, and not a terminal or nothing at all."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (AttributeError, OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode)


@contextmanager
def _standard_input() -> Iterator[TextIO]:
    stream = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8-sig", newline="")
    try:
        yield stream
    except UnicodeDecodeError as error:
        raise DataError(f"standard input: not UTF-8 text ({error.reason} at byte {error.start})") from None
    finally:
        # Closing it here would close the program's own standard input.
        stream.detach()
