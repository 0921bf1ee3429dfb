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
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from itertools import count, islice, takewhile, zip_longest
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

from qdecomp.data_structures.errors import DataError
from qdecomp.files.atomic import (
    UNENCODABLE,
    OutputFile,
    is_device,
    lock,
    unfinished_name,
    write_text_atomically,
    writing,
)
from qdecomp.files.parts import MANIFEST, Manifest, Part, is_folder_output, part_name, read_manifest
from qdecomp.files.rows import json_object, read_json_lines
from qdecomp.files.sources import (
    address_of,
    cache_folder,
    exists,
    file_in,
    is_parquet_name,
    remove,
    require_packages,
    write_parquet,
    write_remote,
)

PART_ROWS = 10_000
"""How many rows a part has by default."""

_SECONDS_BETWEEN_SYNCS = 1.0
# Without a name and a time in it, equal records give equal bytes.
_PACKERS: dict[str, Callable[[BinaryIO], AbstractContextManager[Any]]] = {
    ".gz": lambda stream: gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0),
    ".bz2": partial(bz2.BZ2File, mode="wb"),
    ".xz": partial(lzma.LZMAFile, mode="wb"),
}

OnRecord = Callable[[Mapping[str, Any]], None]


def format_record(record: Mapping[str, Any]) -> bytes:
    """The line of a record.

    >>> format_record({"question": "größer ?"}).decode()
    '{"question": "größer ?"}\\n'
    """
    return json.dumps(record, ensure_ascii=False).encode(errors=UNENCODABLE) + b"\n"


class RecordWriter(Protocol):
    """Takes the lines of records."""

    done: int
    """How many records there are."""

    def write(self, line: bytes) -> None:
        """Append a record, see :func:`format_record`."""


@contextmanager
def resume_records(
    path: str | Path,
    keys: Iterable[str],
    *,
    overwrite: bool = False,
    on_record: OnRecord | None = None,
    part_rows: int | None = None,
) -> Iterator[RecordWriter]:
    """Open an output for records, whatever kind of file and place its name says.

    Complete records that are already there are kept and given to ``on_record``. With ``overwrite``, the output starts
    over. A name that ends with a slash stands for a folder of parts with ``part_rows`` records each.
    """
    if is_folder_output(path):
        with _resume_parts(path, keys, part_rows, overwrite, on_record) as parts:
            yield parts
        return
    if address_of(path) is None and Path(path).suffix.lower() not in _PACKERS and not is_parquet_name(path):
        with _resume_lines(Path(path), keys, overwrite, on_record) as lines:
            yield lines
        return
    require_packages(path)
    unfinished = _place_until_complete(path)
    if not overwrite and not unfinished.exists() and exists(path):
        yield _LinesWriter(io.BytesIO(), Path(path), _count_complete(path, keys, on_record))
        return
    with _resume_lines(unfinished, keys, overwrite, on_record) as lines:
        yield lines
    _publish(unfinished, path)


class _LinesWriter:
    """Appends records to a file; what is written is on disk within a second."""

    def __init__(self, stream: BinaryIO, path: Path, done: int) -> None:
        self._stream = stream
        self._path = path
        self._synced = time.monotonic()
        self.done = done

    def write(self, line: bytes) -> None:
        self._stream.write(line)
        self.done += 1
        if time.monotonic() - self._synced >= _SECONDS_BETWEEN_SYNCS:
            self.sync()

    def sync(self) -> None:
        self._stream.flush()
        if not is_device(self._path):
            with writing(self._path):
                os.fsync(self._stream.fileno())
        self._synced = time.monotonic()


@contextmanager
def _resume_lines(
    path: Path, keys: Iterable[str], overwrite: bool = False, on_record: OnRecord | None = None
) -> Iterator[_LinesWriter]:
    """Open a file of JSON lines; a last line that was cut off is removed. A device or a pipe keeps nothing."""
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    keeps_nothing = is_device(path)
    file = OutputFile(path, "w" if keeps_nothing else "a+", path)
    with cast(BinaryIO, io.BufferedWriter(file) if keeps_nothing else io.BufferedRandom(file)) as stream:
        done = 0
        if not keeps_nothing:
            lock(stream, path)
            if overwrite:
                stream.truncate(0)
            done, end = _check(stream, path, keys, on_record)
            stream.truncate(end)
            stream.seek(0, os.SEEK_END)
        writer = _LinesWriter(stream, path, done)
        try:
            yield writer
        finally:
            writer.sync()


def _check(stream: BinaryIO, path: Path, keys: Iterable[str], on_record: OnRecord | None) -> tuple[int, int]:
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
        _take(record, next(expected, None), f"{path}: line {done + 1}", on_record)
        done += 1
        end += len(line)
    return done, end


def _count_complete(path: str | Path, keys: Iterable[str], on_record: OnRecord | None) -> int:
    """How many records a complete file has; raises unless they are those of the keys, all of them."""
    done = 0
    for (_, record), key in zip_longest(read_json_lines(path), keys, fillvalue=(0, None)):
        _take(record, key, f"{path}: line {done + 1}", on_record)
        done += 1
    return done


def _take(record: Any, key: object, where: str, on_record: OnRecord | None) -> None:
    if record is None or record.get("key") != key:
        raise DataError(f"{where} was made from other input or with other settings; give another file, or overwrite it")
    if on_record is not None:
        on_record(record)


def _place_until_complete(path: str | Path) -> Path:
    """Where the records of a file are until it is complete: next to it or, for a remote file, in the user's cache."""
    address = address_of(path)
    if address is None:
        return unfinished_name(Path(path))
    return cache_folder() / f"{hashlib.blake2b(address.encode(), digest_size=16).hexdigest()}.unfinished"


def _publish(unfinished: Path, path: str | Path) -> None:
    """Turn complete JSON lines into the file that the name of the output asks for."""
    suffix, address = Path(path).suffix.lower(), address_of(path)
    packed = unfinished
    if suffix in _PACKERS or is_parquet_name(path):
        packed = unfinished.with_name(f"{unfinished.name}.packed")
        with writing(path), packed.open("wb") as stream:
            if is_parquet_name(path):
                write_parquet(stream, (record for _, record in read_json_lines(unfinished)), _fields(unfinished))
            else:
                with unfinished.open("rb") as records, _PACKERS[suffix](stream) as packer:
                    shutil.copyfileobj(records, packer)
    if address is None:
        with writing(path):
            os.replace(packed, path)
    else:
        with packed.open("rb") as content, write_remote(address) as remote:
            shutil.copyfileobj(content, remote)
        packed.unlink()
    unfinished.unlink(missing_ok=True)


def _fields(source: Path) -> dict[str, bool]:
    """The fields of all records in the order of their first occurrence, and whether every record has them."""
    counts: dict[str, int] = {}
    total = 0
    for _, record in read_json_lines(source):
        total += 1
        for name in record:
            counts[name] = counts.get(name, 0) + 1
    return {name: count == total for name, count in counts.items()}


# Folders of parts. A part is written under a temporary name and appears when it has all of its rows. The manifest says
# whether all parts are there; a run that is resumed looks at the parts themselves.


@contextmanager
def _resume_parts(
    folder: str | Path, keys: Iterable[str], part_rows: int | None, overwrite: bool, on_record: OnRecord | None
) -> Iterator[_PartsWriter]:
    require_packages(folder)
    with ExitStack() as stack:
        if address_of(folder) is None:
            stack.enter_context(_own_folder(Path(folder)))
        known = None if overwrite else read_manifest(folder)
        if known is not None and part_rows not in (None, known.rows_per_part):
            raise DataError(
                f"{folder}: its parts have {known.rows_per_part:,} rows, not {part_rows:,}; "
                "give that number or another folder, or overwrite it"
            )
        writer = _PartsWriter(folder, part_rows or (PART_ROWS if known is None else known.rows_per_part))
        stack.callback(writer.stop)
        if overwrite:
            writer.begin_anew()
        else:
            writer.keep(iter(keys), on_record)
        yield writer
        writer.finish()


@contextmanager
def _own_folder(path: Path) -> Iterator[None]:
    """Make sure that a folder is new, empty or one of parts, and that no other run writes to it."""
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)
        names = sorted(each.name for each in path.iterdir() if not each.name.startswith("."))
    if names and MANIFEST not in names:
        raise DataError(f"{path}: holds other files, such as {names[0]}; give a new or an empty folder")
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:  # a folder cannot be opened on this system
        yield
        return
    try:
        lock(handle, path)
        yield
    finally:
        os.close(handle)


class _PartsWriter:
    """Appends records to the last part, and starts another when it is full."""

    def __init__(self, folder: str | Path, part_rows: int) -> None:
        self._folder = folder
        self._part_rows = part_rows
        self._parts: list[Part] = []
        self._open = ExitStack()
        self._lines: _LinesWriter | None = None
        self._manifest_time = -_SECONDS_BETWEEN_SYNCS
        self.done = 0

    def write(self, line: bytes) -> None:
        lines = self._lines or self._begin((), overwrite=True)
        lines.write(line)
        self.done += 1
        self._end_if_full(lines)

    def keep(self, keys: Iterator[str], on_record: OnRecord | None) -> None:
        """Keep what an earlier run wrote; raises unless it has these keys."""
        while exists(self._place()):
            place = self._place()
            rows = _count_complete(place, islice(keys, self._part_rows), on_record)
            # A run that was killed at just that moment leaves it behind.
            _place_until_complete(place).unlink(missing_ok=True)
            self._parts.append(Part(Path(place).name, rows))
            self.done += rows
        if _place_until_complete(self._place()).exists():
            lines = self._begin(islice(keys, self._part_rows), on_record=on_record)
            self.done += lines.done
            # The run was killed after the last record of the part, before the part appeared.
            self._end_if_full(lines)

    def begin_anew(self) -> None:
        """Remove all parts, the last one first, so that none is ever missing in the middle."""
        self._write_manifest(complete=False)
        numbers = list(takewhile(lambda number: exists(self._place(number)), count()))
        for number in reversed([*numbers, len(numbers)]):
            _place_until_complete(self._place(number)).unlink(missing_ok=True)
            with writing(self._place(number)):
                remove(self._place(number))

    def finish(self) -> None:
        """Finish the last part, and mark the folder as complete."""
        if self._lines is not None:
            self._end(self._lines)
        self._write_manifest(complete=True)

    def stop(self) -> None:
        """Close the last part, so that another run can resume it."""
        self._open.close()

    def _place(self, number: int | None = None) -> str:
        return file_in(self._folder, part_name(self._folder, len(self._parts) if number is None else number))

    def _begin(
        self, keys: Iterable[str], *, overwrite: bool = False, on_record: OnRecord | None = None
    ) -> _LinesWriter:
        # A hundred million rows have ten thousand parts, and the manifest names them all.
        if time.monotonic() - self._manifest_time >= _SECONDS_BETWEEN_SYNCS:
            self._write_manifest(complete=False)
        unfinished = _place_until_complete(self._place())
        self._lines = self._open.enter_context(_resume_lines(unfinished, keys, overwrite, on_record))
        return self._lines

    def _end_if_full(self, lines: _LinesWriter) -> None:
        if lines.done == self._part_rows:
            self._end(lines)

    def _end(self, lines: _LinesWriter) -> None:
        self._open.close()
        self._lines = None
        place = self._place()
        _publish(_place_until_complete(place), place)
        self._parts.append(Part(Path(place).name, lines.done))

    def _write_manifest(self, *, complete: bool) -> None:
        """Write the manifest."""
        manifest = Manifest(self._part_rows, tuple(self._parts), complete)
        text = json.dumps(manifest.to_json(), indent=1) + "\n"
        place = file_in(self._folder, MANIFEST)
        address = address_of(place)
        if address is None:
            with write_text_atomically(place) as stream:
                stream.write(text)
        else:
            with write_remote(address) as binary:
                binary.write(text.encode())
        self._manifest_time = time.monotonic()
