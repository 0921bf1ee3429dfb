"""Reading and writing the project's files: Break's CSV, JSON lines, output that is whole or not there."""

from __future__ import annotations

import csv
import gzip
import json
import os
import shutil
import sys
import tempfile
import time
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO, TypeVar, cast

from qdecomp.data_structures.errors import DataError

__all__ = [
    "BreakExample",
    "open_text",
    "progress",
    "read_break_csv",
    "read_json_lines",
    "require_replaceable_folder",
    "source_of",
    "try_json_lines",
    "write_folder_atomically",
    "write_text_atomically",
]

T = TypeVar("T")

_SECONDS_BETWEEN_LINES = 5.0
_LARGEST_FIELD = 10_000_000


@dataclass(frozen=True, slots=True)
class BreakExample:
    """A row of Break's CSV; ``row`` is its line of data, counted from 1."""

    row: int
    question_id: str
    question: str
    decomposition: str | None
    operators: tuple[str, ...] = ()
    split: str = ""

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


@contextmanager
def open_text(path: str | Path) -> Iterator[TextIO]:
    """Open a UTF-8 file (``.gz``: compressed) for reading; a :class:`DataError` says what stands in the way."""
    path = Path(path)
    if not path.exists():
        raise DataError(f"{path}: there is no such file")
    if path.is_dir():
        raise DataError(f"{path}: this is a folder; give a file")
    try:
        opener = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rt", encoding="utf-8-sig", newline="") as stream:
            yield cast(TextIO, stream)
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not a UTF-8 text file ({error.reason} at byte {error.start})") from None
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from None


def read_break_csv(path: str | Path) -> list[BreakExample]:
    """Read Break's columns ``question_id, question_text, decomposition, operators, split``.

    Only ``question_id`` and ``question_text`` are needed; a row without a decomposition has None there.
    """
    csv.field_size_limit(_LARGEST_FIELD)
    with open_text(path) as stream:
        reader = csv.DictReader(stream)
        try:
            missing = {"question_id", "question_text"} - set(reader.fieldnames or ())
            if missing:
                raise DataError(f"{path}: not Break's CSV: no column {', '.join(sorted(missing))}")
            return [_example(number, row) for number, row in enumerate(reader, start=1)]
        except csv.Error as error:
            raise DataError(f"{path}: line {reader.line_num}: {error}") from None


def _example(number: int, row: dict[str, str | None]) -> BreakExample:
    operators = (row.get("operators") or "").strip("[] ")
    return BreakExample(
        row=number,
        question_id=(row["question_id"] or "").strip(),
        question=row["question_text"] or "",
        decomposition=(row.get("decomposition") or "").strip() or None,
        operators=tuple(name.strip(" '\"") for name in operators.split(",") if name.strip(" '\"")),
        split=row.get("split") or "",
    )


def read_json_lines(path: str | Path) -> Iterator[tuple[int, Any]]:
    """The values of a JSON-lines file with their line numbers; a line that is not JSON is a :class:`DataError`."""
    for number, value in try_json_lines(path):
        if isinstance(value, DataError):
            raise value
        yield number, value


def try_json_lines(path: str | Path) -> Iterator[tuple[int, Any]]:
    """As :func:`read_json_lines`, but with the error in the place of the value, so that a reader can go on."""
    with open_text(path) as stream:
        for number, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError):
                yield number, DataError(f"{path}: line {number} is not JSON: {line.strip()[:80]!r}")


@contextmanager
def write_text_atomically(path: str | Path) -> Iterator[TextIO]:
    """Write a file that appears under its name only when it is complete; folders are made as needed."""
    path = Path(path)
    temporary: str | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
            yield stream
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
        temporary = None
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error.strerror or error})") from None
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


def write_folder_atomically(path: str | Path, contents: Mapping[str, str]) -> None:
    """Write text files as a folder that appears only when it is complete.

    It takes the place of an older folder with files of the same names; one that holds anything else is left alone.
    """
    path = Path(path).resolve()
    require_replaceable_folder(path, contents)
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
        new, old = temporary / "new", temporary / "old"
        new.mkdir()
        for name, text in contents.items():
            (new / name).write_text(text, encoding="utf-8", newline="")
        if path.exists():
            path.rename(old)
        try:
            new.rename(path)
        except OSError:
            if old.exists():
                old.rename(path)
            raise
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error.strerror or error})") from None
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)


def require_replaceable_folder(path: str | Path, names: Collection[str]) -> None:
    """Raise unless a folder is new, empty, or holds only files of these names, so that it may be written anew."""
    path = Path(path)
    if path.exists() and not path.is_dir():
        raise DataError(f"{path}: this is a file; give a folder")
    try:
        others = {each.name for each in path.iterdir()} - set(names) if path.exists() else set()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from None
    if others:
        raise DataError(f"{path}: holds other files, such as {min(others)}; give a new or an empty folder")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def progress(items: Iterable[T], description: str, total: int) -> Iterator[T]:
    """Pass the items on, with a bar on a terminal and a line every few seconds elsewhere (on standard error)."""
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import track

        yield from track(items, description, total=total, console=Console(stderr=True))
        return
    started = last = time.monotonic()
    for done, item in enumerate(items, start=1):
        yield item
        now = time.monotonic()
        if now - last >= _SECONDS_BETWEEN_LINES:
            last = now
            rate = done / (now - started)
            print(f"{description}: {done:,} of {total:,} ({rate:,.0f} a second)", file=sys.stderr, flush=True)
