"""Text files and JSON lines, read with errors that say what stands in the way."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO, cast

from qdecomp.data_structures.errors import DataError

__all__ = ["open_text", "read_json_lines", "try_json_lines"]


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
