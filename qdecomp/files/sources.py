"""Opens files wherever they are and whatever they are packed in: local files, addresses such as ``s3://…`` (fsspec
opens them), compressed files, and Parquet.

What a file is packed in is seen from its first bytes, so a name may be wrong. Plain and compressed local files need no
more than the standard library.
"""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO, cast

from qdecomp.data_structures.errors import DataError, missing_extra

# pathlib turns "s3://bucket" into "s3:/bucket". A Windows drive has one letter.
_ADDRESS = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]+):/+(?P<rest>.*)", re.DOTALL)
_UNPACKERS: dict[bytes, Callable[[BufferedReader], Any]] = {
    b"\x1f\x8b": lambda raw: gzip.GzipFile(fileobj=raw),
    **{b"BZh%d1AY&SY" % level: bz2.BZ2File for level in range(1, 10)},
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}
_REFUSED = {b"PK\x03\x04": "zip", b"(\xb5/\xfd": "Zstandard", b"7z\xbc\xaf\x27\x1c": "7-Zip"}
_PACKED_SUFFIXES = frozenset((".gz", ".gzip", ".bz2", ".xz"))


def cache_folder() -> Path:
    """``$QDECOMP_CACHE``, or the folder ``qdecomp`` in the user's cache folder."""
    if chosen := os.environ.get("QDECOMP_CACHE"):
        return Path(chosen).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "qdecomp"


def text_suffix(path: str | Path) -> str:
    """The suffix of a file's name that says what text it holds, without that of its compression.

    >>> text_suffix("dev.csv.gz"), text_suffix("dev.CSV")
    ('.csv', '.csv')
    """
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    while suffixes and suffixes[-1] in _PACKED_SUFFIXES:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


@contextmanager
def open_unpacked(path: str | Path) -> Iterator[BufferedReader]:
    """The bytes of a file, which may be remote, without its compression.

    Whatever is wrong with it, also in the body of the ``with``, is a :class:`DataError` that names it.
    """
    try:
        with open_binary(path) as raw, _unpacked(raw, path) as content:
            yield content
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not a UTF-8 text file ({error.reason} at byte {error.start})") from None
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise DataError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from None


def _unpacked(raw: BufferedReader, path: str | Path) -> AbstractContextManager[BufferedReader]:
    start = raw.peek(16)
    for magic, unpacker in _UNPACKERS.items():
        if start.startswith(magic):
            return BufferedReader(unpacker(raw))
    for magic, name in _REFUSED.items():
        if start.startswith(magic):
            raise DataError(
                f"{path}: this is a {name} file; unpack it first (gzip, bzip2 and xz files are read as they are)"
            )
    return nullcontext(raw)


# Files at a path or an address.


def address_of(path: str | Path) -> str | None:
    """The address that a path stands for; None for a local file.

    >>> address_of(Path("s3://bucket/dev.csv")), address_of("data/dev.csv")
    ('s3://bucket/dev.csv', None)
    """
    found = _ADDRESS.fullmatch(str(path))
    if found is None or Path(path).exists():
        return None
    slashes = ":///" if found["scheme"] in ("file", "local") else "://"
    return f"{found['scheme']}{slashes}{found['rest']}"


def file_in(folder: str | Path, name: str) -> str:
    """The path or the address of a file in a folder."""
    address = address_of(folder)
    return str(Path(folder) / name) if address is None else f"{address.rstrip('/')}/{name}"


def exists(path: str | Path) -> bool:
    """Whether there is a file or a folder."""
    address = address_of(path)
    if address is None:
        return Path(path).exists()
    with _remote(address, "read") as (system, place):
        return bool(system.exists(place))


def is_folder(path: str | Path) -> bool:
    """Whether there is a folder."""
    address = address_of(path)
    if address is None:
        return Path(path).is_dir()
    with _remote(address, "read") as (system, place):
        return bool(system.isdir(place))


def remove(path: str | Path) -> None:
    """Remove a file, if there is one."""
    address = address_of(path)
    if address is None:
        Path(path).unlink(missing_ok=True)
    elif exists(address):
        with _remote(address, "removed") as (system, place):
            system.rm_file(place)


@contextmanager
def open_binary(path: str | Path) -> Iterator[BufferedReader]:
    """The bytes of a file."""
    if not exists(path):
        raise DataError(f"{path}: there is no such file")
    if is_folder(path):
        raise DataError(f"{path}: this is a folder; give a file")
    address = address_of(path)
    if address is None:
        with Path(path).open("rb") as stream:
            yield stream
        return
    with _remote(address, "read") as (system, place):
        remote = system.open(place, "rb")
    with remote:
        yield BufferedReader(remote)


@contextmanager
def write_remote(address: str) -> Iterator[BinaryIO]:
    """Write a file at an address; it appears only when it is complete, if the remote system supports that."""
    with _remote(address, "written") as (system, place):
        system.makedirs(system._parent(place), exist_ok=True)
        stream = system.open(place, "wb")
    try:
        with stream:
            yield cast(BinaryIO, stream)
    except OSError as error:
        raise DataError(f"{address}: cannot be written ({error})") from None


def require_packages(path: str | Path) -> None:
    """Raise unless what this kind of file and place needs is installed."""
    address = address_of(path)
    if is_parquet_name(path):
        _parquet(address or str(path))
    if address is not None:
        with _remote(address, "read"):
            pass


@contextmanager
def _remote(address: str, done: str) -> Iterator[tuple[Any, str]]:
    """The file system of an address, and the place there; whatever goes wrong is one of our errors."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise missing_extra(f"{address}: a remote file", "files") from None
    try:
        yield url_to_fs(address)
    except (OSError, ImportError, ValueError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise DataError(f"{address}: cannot be {done} ({reason})") from None


# Parquet: a row for each record, with JSON text for what a column cannot hold.

PARQUET_MAGIC = b"PAR1"
"""How a Parquet file begins."""

_ROWS_AT_A_TIME = 1000
# The fields of records that are columns of their own type; all others are JSON text.
_TEXTS = ("question_id", "question", "decomposition", "error", "reason", "key")
_LISTS_OF_TEXTS = ("logical_form", "warnings", "missing")
_NUMBERS = ("score", "confidence")
# In the metadata of a file: which columns are JSON text, and which fields not every record has.
_JSON_FIELDS = b"qdecomp.json"
_OPTIONAL_FIELDS = b"qdecomp.optional"


def is_parquet_name(path: str | Path) -> bool:
    """Whether the name of a file or folder says Parquet."""
    return Path(path).suffix.lower() in (".parquet", ".pq")


def _parquet(name: str) -> Any:
    try:
        from pyarrow import parquet
    except ImportError:
        raise missing_extra(f"{name}: a Parquet file", "files") from None
    return parquet


def parquet_records(stream: BinaryIO, name: str) -> Iterator[dict[str, Any]]:
    """The rows of a Parquet file, read lazily."""
    parquet = _parquet(name)
    import pyarrow

    try:
        file = parquet.ParquetFile(stream)
        metadata = file.schema_arrow.metadata or {}
        as_json = json.loads(metadata.get(_JSON_FIELDS, b"[]"))
        optional = json.loads(metadata.get(_OPTIONAL_FIELDS, b"[]"))
        for batch in file.iter_batches(_ROWS_AT_A_TIME):
            for row in batch.to_pylist():
                record = {name: value for name, value in row.items() if value is not None or name not in optional}
                for field in as_json:
                    if record.get(field) is not None:
                        record[field] = json.loads(record[field])
                # Dates and the like become text.
                yield json.loads(json.dumps(record, default=str))
    except (pyarrow.ArrowException, ValueError) as error:
        raise DataError(f"{name}: this Parquet file cannot be read ({' '.join(str(error).split())})") from None


def write_parquet(stream: BinaryIO, records: Iterable[Mapping[str, Any]], fields: Mapping[str, bool]) -> None:
    """Write records as Parquet; ``fields`` names the fields in order, and says of each whether every record has it."""
    import pyarrow
    from pyarrow import parquet

    kinds = {
        **dict.fromkeys(_TEXTS, pyarrow.string()),
        **dict.fromkeys(_LISTS_OF_TEXTS, pyarrow.list_(pyarrow.string())),
        **dict.fromkeys(_NUMBERS, pyarrow.float64()),
        "row": pyarrow.int64(),
        "round_trip": pyarrow.bool_(),
    }
    as_json = [name for name in fields if name not in kinds]
    optional = [name for name, is_everywhere in fields.items() if not is_everywhere]
    metadata = {_JSON_FIELDS: json.dumps(as_json).encode(), _OPTIONAL_FIELDS: json.dumps(optional).encode()}
    schema = pyarrow.schema([(name, kinds.get(name, pyarrow.string())) for name in fields], metadata)
    rows: list[dict[str, Any]] = []
    with parquet.ParquetWriter(stream, schema, compression="zstd") as writer:
        for record in records:
            rows.append({name: _cell(record.get(name), name in as_json) for name in fields})
            if len(rows) == _ROWS_AT_A_TIME:
                writer.write_batch(pyarrow.RecordBatch.from_pylist(rows, schema))
                rows.clear()
        if rows:
            writer.write_batch(pyarrow.RecordBatch.from_pylist(rows, schema))


def _cell(value: Any, as_json: bool) -> Any:
    if as_json:
        return None if value is None else json.dumps(value)
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    return [_cell(each, False) for each in value] if isinstance(value, list) else value
