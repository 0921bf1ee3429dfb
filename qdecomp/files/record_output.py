"""Writes records to any kind of file, so that a run that was stopped can be resumed.

JSON lines can be appended to. Parquet, compressed and remote files cannot: until all of their records are there, these
are JSON lines next to the file or in the user's cache.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import json
import lzma
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any, BinaryIO

from .addresses import address_of, exists_at, require_readable_address, write_address
from .output_stream import writing
from .parquet import require_parquet, write_parquet
from .resumable import JsonLinesWriter, record_of_key, resume_json_lines
from .text_files import read_json_lines

__all__ = ["resume_records"]

_PARQUET = frozenset({".parquet", ".pq"})


# Without a name and a time in it, equal records give equal bytes.
_PACKERS: dict[str, Callable[[BinaryIO], AbstractContextManager[Any]]] = {
    ".gz": lambda stream: gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0),
    ".bz2": partial(bz2.BZ2File, mode="wb"),
    ".xz": partial(lzma.LZMAFile, mode="wb"),
}


@contextmanager
def resume_records(
    path: str | Path,
    keys: Iterable[str],
    *,
    overwrite: bool = False,
    on_record: Callable[[Mapping[str, Any]], None] | None = None,
) -> Iterator[JsonLinesWriter]:
    """Like :func:`~qdecomp.files.resumable.resume_json_lines`, for whatever kind of file and place the name says."""
    path = Path(path)
    address = address_of(path)
    suffix = path.suffix.lower()
    if address is None and suffix not in _PARQUET and suffix not in _PACKERS:
        with resume_json_lines(path, keys, overwrite=overwrite, on_record=on_record) as writer:
            yield writer
        return
    if suffix in _PARQUET:
        require_parquet(address or str(path))
    if address is not None:
        require_readable_address(address)
    unfinished = path.with_name(f".{path.name}.unfinished") if address is None else _cached(address)
    if not overwrite and not unfinished.exists() and (path.exists() if address is None else exists_at(address)):
        yield JsonLinesWriter(io.BytesIO(), path, _count_finished(path, keys, on_record))
        return
    with resume_json_lines(unfinished, keys, overwrite=overwrite, on_record=on_record) as writer:
        yield writer
    with _replaced(path) if address is None else write_address(address) as stream:
        _write(unfinished, stream, suffix)
    unfinished.unlink()


def _cached(address: str) -> Path:
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "qdecomp"
    return folder / f"{hashlib.blake2b(address.encode(), digest_size=16).hexdigest()}.unfinished"


def _count_finished(path: Path, keys: Iterable[str], on_record: Callable[[Mapping[str, Any]], None] | None) -> int:
    """How many records a file has; raises unless they are exactly those of the keys."""
    done = 0
    for (_, value), key in zip_longest(read_json_lines(path), keys, fillvalue=(0, None)):
        record = record_of_key(value, key, f"{path}: line {done + 1}")
        if on_record is not None:
            on_record(record)
        done += 1
    return done


def _write(source: Path, stream: BinaryIO, suffix: str) -> None:
    if suffix in _PARQUET:
        write_parquet(stream, (record for _, record in read_json_lines(source)), _fields(source))
        return
    with source.open("rb") as records:
        if suffix not in _PACKERS:
            shutil.copyfileobj(records, stream)
            return
        with _PACKERS[suffix](stream) as packed:
            shutil.copyfileobj(records, packed)


def _fields(source: Path) -> dict[str, bool]:
    """The fields of all records in the order of their first occurrence, and whether every record has them."""
    counts: dict[str, int] = {}
    total = 0
    with source.open("rb") as lines:
        for line in lines:
            total += 1
            for name in json.loads(line):
                counts[name] = counts.get(name, 0) + 1
    return {name: count == total for name, count in counts.items()}


@contextmanager
def _replaced(path: Path) -> Iterator[BinaryIO]:
    """A local file that appears under its name only when it is complete."""
    with writing(path):
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as stream:
                yield stream
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(temporary, 0o666 & ~mask)
            os.replace(temporary, path)
        finally:
            Path(temporary).unlink(missing_ok=True)
