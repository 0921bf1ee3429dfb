"""An output file: a problem with it is a clear error, and any text can be written to it.

The body of a ``with`` that writes also reads files, starts processes and so on. Only an error of the file that is
being written becomes "this file cannot be written"; all others stay as they are.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

from qdecomp.data_structures.errors import DataError

__all__ = ["UNENCODABLE", "binary_output", "sync", "text_output", "writing"]

UNENCODABLE = "backslashreplace"
"""How half of a character (a lone surrogate), which UTF-8 cannot encode, is written: ``\\ud800``, as JSON writes it."""


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an error of the operating system into one that says that this file cannot be written."""
    try:
        yield
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error.strerror or error})") from None


class _File(io.FileIO):
    def __init__(self, file: int | Path, mode: str, path: Path) -> None:
        self._path = path
        with writing(path):
            super().__init__(file, mode)

    def write(self, data: Any, /) -> int:
        with writing(self._path):
            return super().write(data)

    def truncate(self, size: int | None = None, /) -> int:
        with writing(self._path):
            return super().truncate(size)


def text_output(handle: int, path: Path) -> TextIO:
    """A UTF-8 stream to an open file, which becomes the file of this path."""
    return io.TextIOWrapper(
        io.BufferedWriter(_File(handle, "w", path)), encoding="utf-8", errors=UNENCODABLE, newline=""
    )


def binary_output(path: Path) -> BinaryIO:
    """A stream of bytes that reads and appends to the file."""
    return cast(BinaryIO, io.BufferedRandom(_File(path, "a+", path)))


def sync(stream: BinaryIO, path: Path) -> None:
    """Write everything to disk."""
    stream.flush()
    with writing(path):
        os.fsync(stream.fileno())
