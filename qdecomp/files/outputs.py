"""Records of long runs, written so that a run that was stopped resumes.

Every record of a run has a ``key`` that says what it was made from. The keys of all records are known in advance; a
file whose lines do not have these keys in this order belongs to other input or other settings and is not touched.
JSON lines can be appended to. Parquet, compressed and remote files cannot: until all of their records are there, these
are JSON lines next to the file or in the user's cache, in a file whose name ends with ``.unfinished``. A folder of
parts has a file for every so many records.
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
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from itertools import chain, count, islice, takewhile, zip_longest
from pathlib import Path
from typing import Any, BinaryIO, cast

from qdecomp.data_structures.errors import DataError
from qdecomp.files import sources
from qdecomp.files.atomic import (
    UNENCODABLE,
    OutputFile,
    is_device,
    lock,
    unfinished_name,
    write_text_atomically,
    writing,
)
from qdecomp.files.rows import json_object, read_json_lines
from qdecomp.files.sources import MANIFEST, Manifest, address_of, exists, file_in, is_parquet_name

PART_ROWS = 10_000
"""How many rows a part has by default."""

_SECONDS_BETWEEN_SYNCS = 1.0
# Without a name and a time in it, equal records give equal bytes.
_PACKERS: dict[str, Callable[[BinaryIO], AbstractContextManager[Any]]] = {
    ".gz": lambda stream: gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0),
    ".bz2": partial(bz2.BZ2File, mode="wb"),
    ".xz": partial(lzma.LZMAFile, mode="wb"),
}

# The lines of all records but the first ones, of which there are so many already.
Missing = Callable[[int], Iterable[bytes]]
OnRecord = Callable[[Mapping[str, Any]], object]


def format_record(record: Mapping[str, Any]) -> bytes:
    """The line of a record.

    >>> format_record({"question": "größer ?"}).decode()
    '{"question": "größer ?"}\\n'
    """
    return json.dumps(record, ensure_ascii=False).encode(errors=UNENCODABLE) + b"\n"


def write_records(
    path: str | Path,
    keys: Iterable[str],
    missing: Missing,
    *,
    overwrite: bool = False,
    on_record: OnRecord = lambda record: None,
    part_rows: int | None = None,
) -> int:
    """Write what an output does not have yet, whatever kind of file and place its name says.

    Complete records that are already there are kept and given to ``on_record``; the result is how many they are. With
    ``overwrite``, the output starts over. A name that ends with a slash stands for a folder of parts with ``part_rows``
    records each.
    """
    if sources.is_folder_output(path):
        return _write_parts(path, keys, missing, overwrite, on_record, part_rows)
    grows = address_of(path) is None and Path(path).suffix.lower() not in _PACKERS and not is_parquet_name(path)
    if not grows:
        sources.require_packages(path)
    place = Path(path) if grows else _place_until_complete(path)
    if not grows and not overwrite and not place.exists() and exists(path):
        return _count_complete(path, keys, on_record)
    with _opened(place, keys, overwrite, on_record) as (stream, kept):
        _append(stream, place, missing(kept))
    if not grows:
        _publish(place, path)
    return kept


@contextmanager
def _opened(path: Path, keys: Iterable[str], overwrite: bool, on_record: OnRecord) -> Iterator[tuple[BinaryIO, int]]:
    """A file of JSON lines to append to, and how many it has.

    A last line that was cut off is removed. A device or a pipe keeps nothing.
    """
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    keeps_nothing = is_device(path)
    file = OutputFile(path, "w" if keeps_nothing else "a+", path)
    with cast(BinaryIO, io.BufferedWriter(file) if keeps_nothing else io.BufferedRandom(file)) as stream:
        kept = 0
        if not keeps_nothing:
            lock(stream, path)
            if overwrite:
                stream.truncate(0)
            kept, end = _check(stream, path, keys, on_record)
            stream.truncate(end)
            stream.seek(0, os.SEEK_END)
        yield stream, kept


def _append(stream: BinaryIO, path: Path, lines: Iterable[bytes]) -> int:
    """Write lines, and return how many they are; what is written is on disk within a second."""

    def sync() -> None:
        stream.flush()
        if not is_device(path):
            with writing(path):
                os.fsync(stream.fileno())

    done, synced = 0, time.monotonic()
    try:
        for line in lines:
            stream.write(line)
            done += 1
            if time.monotonic() - synced >= _SECONDS_BETWEEN_SYNCS:
                sync()
                synced = time.monotonic()
    finally:
        sync()
    return done


def _check(stream: BinaryIO, path: Path, keys: Iterable[str], on_record: OnRecord) -> tuple[int, int]:
    """How many complete records there are, and where they end."""
    stream.seek(0)
    done = end = 0
    expected = iter(keys)
    for line in stream:
        record, key, where = json_object(line), next(expected, None), f"{path}: line {done + 1}"
        # The only line of somebody else's file is not the beginning of a record.
        is_ours = done > 0 or line.strip(b"\0\n")[:1] in (b"", b"{")
        if record is None and (stream.read(1) or not is_ours):
            raise DataError(f"{where} is not a record of qdecomp; give another file, or overwrite it (--overwrite)")
        if record is None or (not line.endswith(b"\n") and record.get("key") == key):
            break
        _take(record, key, where, on_record)
        done += 1
        end += len(line)
    return done, end


def _count_complete(path: str | Path, keys: Iterable[str], on_record: OnRecord) -> int:
    """How many records a complete file has; raises unless they are those of the keys, all of them."""
    done = 0
    for (_, record), key in zip_longest(read_json_lines(path), keys, fillvalue=(0, None)):
        _take(record, key, f"{path}: line {done + 1}", on_record)
        done += 1
    return done


def _take(record: Any, key: object, where: str, on_record: OnRecord) -> None:
    if record is None or record.get("key") != key:
        raise DataError(
            f"{where} was made from other input or with other settings; "
            "give another file, or overwrite it (--overwrite)"
        )
    on_record(record)


def _place_until_complete(path: str | Path) -> Path:
    """Where the records of a file are until it is complete: next to it or, for a remote file, in the user's cache."""
    address = address_of(path)
    if address is None:
        return unfinished_name(Path(path))
    return sources.cache_folder() / f"{hashlib.blake2b(address.encode(), digest_size=16).hexdigest()}.unfinished"


def _publish(unfinished: Path, path: str | Path) -> None:
    """Turn complete JSON lines into the file that the name of the output asks for."""
    suffix, address = Path(path).suffix.lower(), address_of(path)
    packed = unfinished
    if suffix in _PACKERS or is_parquet_name(path):
        packed = unfinished.with_name(f"{unfinished.name}.packed")
        with writing(path), packed.open("wb") as stream:
            if is_parquet_name(path):
                sources.write_parquet(stream, unfinished)
            else:
                with unfinished.open("rb") as records, _PACKERS[suffix](stream) as packer:
                    shutil.copyfileobj(records, packer)
    if address is None:
        with writing(path):
            os.replace(packed, path)
    else:
        with packed.open("rb") as content, sources.write_remote(address) as remote:
            shutil.copyfileobj(content, remote)
        packed.unlink()
    unfinished.unlink(missing_ok=True)


# Folders of parts. A part is written under a temporary name and appears when it has all of its rows. The manifest says
# whether all parts are there; a run that is resumed looks at the parts themselves.


def _write_parts(
    folder: str | Path,
    keys: Iterable[str],
    missing: Missing,
    overwrite: bool,
    on_record: OnRecord,
    part_rows: int | None,
) -> int:
    sources.require_packages(folder)
    with _own_folder(folder):
        known = None if overwrite else sources.read_manifest(folder)
        if known is not None and part_rows not in (None, known.rows_per_part):
            raise DataError(
                f"{folder}: its parts have {known.rows_per_part:,} rows, not {part_rows:,}; "
                "give that number or another folder, or overwrite it (--overwrite)"
            )
        size = part_rows or (PART_ROWS if known is None else known.rows_per_part)
        if overwrite:
            _remove_parts(folder, size)
        rest, parts = iter(keys), dict[str, int]()
        while exists(place := _place(folder, len(parts))):
            parts[Path(place).name] = _count_complete(place, islice(rest, size), on_record)
            # A run that was killed at just that moment leaves it behind.
            _place_until_complete(place).unlink(missing_ok=True)
        kept = sum(parts.values())

        def missing_lines() -> Iterator[bytes]:
            # Begins when the part that a stopped run left unfinished has been counted.
            yield from missing(kept)

        lines, first = missing_lines(), list[bytes]()
        while (unfinished := _place_until_complete(place)).exists() or (first := list(islice(lines, 1))):
            _write_manifest(folder, Manifest(size, parts, complete=False))
            with _opened(unfinished, islice(rest, size), False, on_record) as (stream, found):
                kept += found
                more = islice(lines, size - found - len(first))
                parts[Path(place).name] = found + _append(stream, unfinished, chain(first, more))
            _publish(unfinished, place)
            place, first = _place(folder, len(parts)), []
        _write_manifest(folder, Manifest(size, parts, complete=True))
    return kept


@contextmanager
def _own_folder(folder: str | Path) -> Iterator[None]:
    """Make sure that a local folder is new, empty or one of parts, and that no other run writes to it."""
    if address_of(folder) is not None:
        yield
        return
    path = Path(folder)
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)
        names = sorted(each.name for each in path.iterdir() if not each.name.startswith("."))
        handle = os.open(path, os.O_RDONLY)
    try:
        if names and MANIFEST not in names:
            raise DataError(f"{path}: holds other files, such as {names[0]}; give a new or an empty folder")
        lock(handle, path)
        yield
    finally:
        os.close(handle)


def _place(folder: str | Path, number: int) -> str:
    return file_in(folder, sources.part_name(folder, number))


def _remove_parts(folder: str | Path, size: int) -> None:
    """Remove all parts, the last one first, so that none is ever missing in the middle."""
    _write_manifest(folder, Manifest(size, {}, complete=False))
    found = list(takewhile(exists, (_place(folder, number) for number in count())))
    for place in reversed([*found, _place(folder, len(found))]):
        _place_until_complete(place).unlink(missing_ok=True)
        if exists(place):
            with writing(place):
                sources.remove(place)


def _write_manifest(folder: str | Path, manifest: Manifest) -> None:
    place = file_in(folder, MANIFEST)
    address = address_of(place)
    if address is None:
        with write_text_atomically(place) as stream:
            stream.write(manifest.to_json())
    else:
        with sources.write_remote(address) as remote:
            remote.write(manifest.to_json().encode())
