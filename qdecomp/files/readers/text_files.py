"""Text files and JSON lines, read with errors that say what is wrong."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from io import BufferedReader, TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

from qdecomp.data_structures.errors import DataError
from qdecomp.files.storage.addresses import address_of, read_address
from qdecomp.files.storage.chunk_stream import ChunkStream
from qdecomp.files.storage.parquet import PARQUET_MAGIC, parquet_lines
from qdecomp.files.storage.part_folders import joined_parts, read_manifest

__all__ = ["json_object", "open_text", "read_json_lines", "text_suffix", "try_json_lines"]


_PACKERS: dict[bytes, Callable[[BinaryIO], AbstractContextManager[Any]]] = {
    b"\x1f\x8b": lambda raw: gzip.GzipFile(fileobj=raw),
    **{b"BZh%d1AY&SY" % level: bz2.BZ2File for level in range(1, 10)},
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}
_REFUSED = {b"PK\x03\x04": "zip", b"(\xb5/\xfd": "Zstandard", b"7z\xbc\xaf\x27\x1c": "7-Zip"}
_PACKED_SUFFIXES = frozenset((".gz", ".gzip", ".bz2", ".xz"))


@contextmanager
def open_text(path: str | Path) -> Iterator[TextIO]:
    """Open a UTF-8 file, which may be compressed, for reading; a :class:`DataError` says why it cannot be opened.

    It may also be a remote file at an address such as ``s3://…``. A Parquet file is read as JSON lines, and so is a
    folder of parts, see :mod:`qdecomp.files.storage.part_folders`.
    """
    path = Path(path)
    try:
        with _content(path) as content:
            yield TextIOWrapper(cast(BinaryIO, content), encoding="utf-8-sig", newline="")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not a UTF-8 text file ({error.reason} at byte {error.start})") from None
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise DataError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from None


@contextmanager
def _content(path: Path) -> Iterator[Any]:
    """The bytes of a text, wherever it is and whatever it is packed in."""
    address = address_of(path)
    if address is None and not path.exists():
        raise DataError(f"{path}: there is no such file")
    manifest = read_manifest(path)
    if manifest is not None:
        yield BufferedReader(ChunkStream(joined_parts(path, manifest, _unpacked)))
        return
    if address is None and path.is_dir():
        raise DataError(f"{path}: this is a folder; give a file")
    with path.open("rb") if address is None else read_address(address) as raw, _unpacked(raw, path) as content:
        yield content


def text_suffix(path: str | Path) -> str:
    """The suffix of a file's name that says what text it holds, without that of its compression.

    >>> text_suffix("dev.csv.gz"), text_suffix("dev.CSV")
    ('.csv', '.csv')
    """
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    while suffixes and suffixes[-1] in _PACKED_SUFFIXES:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _unpacked(raw: BufferedReader, path: Path) -> AbstractContextManager[Any]:
    """The stream itself, or one that unpacks it, depending on its first bytes; the name does not matter."""
    start = raw.peek(16)
    for magic, opener in _PACKERS.items():
        if start.startswith(magic):
            return opener(raw)
    if start.startswith(PARQUET_MAGIC):
        return parquet_lines(raw, str(path))
    for magic, name in _REFUSED.items():
        if start.startswith(magic):
            raise DataError(
                f"{path}: this is a {name} file; unpack it first (gzip, bzip2 and xz files are read as they are)"
            )
    return nullcontext(raw)


def read_json_lines(path: str | Path) -> Iterator[tuple[int, Any]]:
    """The values of a JSON-lines file with their line numbers; a line that is not JSON is a :class:`DataError`."""
    for number, value in try_json_lines(path):
        if isinstance(value, DataError):
            raise value
        yield number, value


def try_json_lines(path: str | Path) -> Iterator[tuple[int, Any]]:
    """Like :func:`read_json_lines`, but with the error in place of the value, so that a reader can continue."""
    with open_text(path) as stream:
        for number, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError):
                yield number, DataError(f"{path}: line {number} is not JSON: {line.strip()[:80]!r}")


def json_object(text: str | bytes) -> dict[str, Any] | None:
    """The object that a line is; None if it is anything else.

    >>> json_object('{"a": 1}'), json_object("[1]")
    ({'a': 1}, None)
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
