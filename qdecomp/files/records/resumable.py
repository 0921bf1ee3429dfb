"""JSON lines that a long run writes one by one, so that a run that was stopped can be resumed.

Every record has a ``key`` that says what it was made from. The keys of all records are known in advance; a file
whose lines do not have these keys in this order belongs to other input or other settings and is not touched.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import Any, BinaryIO

from qdecomp.data_structures.errors import DataError
from qdecomp.files.readers.text_files import json_object, read_json_lines
from qdecomp.files.writing.output_stream import binary_output, sync, writing

__all__ = ["JsonLinesWriter", "count_finished", "locked_folder", "resume_json_lines"]

_SECONDS_BETWEEN_SYNCS = 1.0


class JsonLinesWriter:
    """Appends records to a file; what is written is on disk within a second."""

    def __init__(self, stream: BinaryIO, path: Path, done: int) -> None:
        self._stream = stream
        self._path = path
        self._synced = time.monotonic()
        self.done = done
        """How many records the file has."""

    def write(self, line: bytes) -> None:
        """Append a record, see :func:`~qdecomp.files.records.record_lines.format_record`."""
        self._stream.write(line)
        self.done += 1
        if time.monotonic() - self._synced >= _SECONDS_BETWEEN_SYNCS:
            self.sync()

    def sync(self) -> None:
        """Write everything to disk."""
        sync(self._stream, self._path)
        self._synced = time.monotonic()


@contextmanager
def resume_json_lines(
    path: str | Path,
    keys: Iterable[str],
    *,
    overwrite: bool = False,
    on_record: Callable[[Mapping[str, Any]], None] | None = None,
) -> Iterator[JsonLinesWriter]:
    """Open a file of records for writing; complete records that are already there are kept and given to ``on_record``.

    A last line that was cut off is removed. With ``overwrite``, the file starts over.
    """
    path = Path(path)
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    with binary_output(path) as stream:
        _lock(stream, path)
        if overwrite:
            stream.truncate(0)
        done, end = _check(stream, path, keys, on_record)
        stream.truncate(end)
        stream.seek(0, os.SEEK_END)
        writer = JsonLinesWriter(stream, path, done)
        try:
            yield writer
        finally:
            writer.sync()


def count_finished(path: str | Path, keys: Iterable[str], on_record: Callable[[Mapping[str, Any]], None] | None) -> int:
    """How many records a whole file has; raises unless they are those of the keys, all of them."""
    done = 0
    for (_, value), key in zip_longest(read_json_lines(path), keys, fillvalue=(0, None)):
        record = record_of_key(value, key, f"{path}: line {done + 1}")
        if on_record is not None:
            on_record(record)
        done += 1
    return done


def record_of_key(value: object, key: object, where: str) -> dict[str, Any]:
    """The value; raises unless it is the record of that key."""
    if not isinstance(value, dict) or value.get("key") != key:
        raise DataError(f"{where} was made from other input or with other settings; give another file, or overwrite it")
    return value


def _check(
    stream: BinaryIO, path: Path, keys: Iterable[str], on_record: Callable[[Mapping[str, Any]], None] | None
) -> tuple[int, int]:
    """How many complete records there are, and where they end."""
    stream.seek(0)
    done = end = 0
    expected = iter(keys)
    for line in stream:
        record = json_object(line) if line.endswith(b"\n") else None
        if record is None:
            if stream.read(1):
                raise DataError(
                    f"{path}: line {done + 1} is not a record of qdecomp; give another file, or overwrite it"
                )
            break
        record = record_of_key(record, next(expected, None), f"{path}: line {done + 1}")
        if on_record is not None:
            on_record(record)
        done += 1
        end += len(line)
    return done, end


@contextmanager
def locked_folder(path: Path) -> Iterator[None]:
    """Keep a second run from writing to the same folder, where the system can do that."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:  # not on this system
        yield
        return
    try:
        _lock(handle, path)
        yield
    finally:
        os.close(handle)


def _lock(stream: BinaryIO | int, path: Path) -> None:
    """Keep a second run from writing to the same file; the lock ends with the process."""
    try:
        import fcntl
    except ImportError:  # not on this system
        return
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise DataError(f"{path}: another run is writing to it; wait for it, or give another name") from None
