"""Opens files wherever they are and whatever they are packed in: local files, addresses such as ``s3://…`` (fsspec
opens them), compressed files, Parquet, and folders of files.

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
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BufferedReader
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO, NamedTuple, cast

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
        with open_binary(path) as raw:
            yield _unpacked(raw, path)
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not a UTF-8 text file ({error.reason} at byte {error.start})") from None
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise DataError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from None


def _unpacked(raw: BufferedReader, path: str | Path) -> BufferedReader:
    start = raw.peek(16)
    if unpacker := next((unpacker for magic, unpacker in _UNPACKERS.items() if start.startswith(magic)), None):
        return BufferedReader(unpacker(raw))
    if name := next((name for magic, name in _REFUSED.items() if start.startswith(magic)), None):
        raise DataError(
            f"{path}: this is a {name} file; unpack it first (gzip, bzip2 and xz files are read as they are)"
        )
    return raw


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
    with _system(path, "read") as (system, place):
        return bool(system.exists(place))


def remove(path: str | Path) -> None:
    """Remove a file."""
    with _system(path, "removed") as (system, place):
        system.rm_file(place)


@contextmanager
def open_binary(path: str | Path) -> Iterator[BufferedReader]:
    """The bytes of a file."""
    with _system(path, "read") as (system, place):
        if not system.exists(place):
            raise DataError(f"{path}: there is no such file")
        if system.isdir(place):
            raise DataError(f"{path}: this is a folder; give a file")
        opened = system.open(place, "rb")
    with opened as stream:
        yield stream if isinstance(stream, BufferedReader) else BufferedReader(stream)


@contextmanager
def write_remote(address: str) -> Iterator[BinaryIO]:
    """Write a file at an address; it appears only when it is complete, if the remote system supports that."""
    with _system(address, "written") as (system, place):
        system.makedirs(system._parent(place), exist_ok=True)
        stream = system.open(place, "wb")
    try:
        with stream:
            yield cast(BinaryIO, stream)
    except OSError as error:
        raise DataError(f"{address}: cannot be written ({error})") from None


def require_packages(path: str | Path) -> None:
    """Raise unless what this kind of file and place needs is installed."""
    if is_parquet_name(path):
        _parquet(address_of(path) or str(path))
    with _system(path, "read"):
        pass


_LOCAL = SimpleNamespace(exists=lambda place: Path(place).exists(), isdir=os.path.isdir, open=open, rm_file=os.unlink)


@contextmanager
def _system(path: str | Path, done: str) -> Iterator[tuple[Any, str]]:
    """The file system of a path or an address, and the place there; what goes wrong elsewhere is one of our errors."""
    address = address_of(path)
    if address is None:
        try:
            yield _LOCAL, str(path)
        except PermissionError as error:
            raise DataError(f"{path}: cannot be {done} ({error.strerror})") from None
        return
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
# In the metadata of a file: which columns are JSON text, and which fields not every record has.
_JSON_FIELDS, _OPTIONAL_FIELDS = b"qdecomp.json", b"qdecomp.optional"


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


def write_parquet(stream: BinaryIO, source: Path) -> None:
    """Write the records of a file of JSON lines as Parquet; a column for each field, in the order of its first use."""
    import pyarrow
    from pyarrow import parquet

    # The fields that are columns of their own type; all others are JSON text.
    kinds = {
        **dict.fromkeys(("question_id", "question", "decomposition", "error", "reason", "key"), pyarrow.string()),
        **dict.fromkeys(("logical_form", "warnings", "missing"), pyarrow.list_(pyarrow.string())),
        **dict.fromkeys(("score", "confidence"), pyarrow.float64()),
        "row": pyarrow.int64(),
        "round_trip": pyarrow.bool_(),
    }
    counts = Counter(name for record in _json_lines(source) for name in (*record, ""))
    total = counts.pop("", 0)
    as_json = [name for name in counts if name not in kinds]
    optional = [name for name, count in counts.items() if count < total]
    metadata = {_JSON_FIELDS: json.dumps(as_json).encode(), _OPTIONAL_FIELDS: json.dumps(optional).encode()}
    schema = pyarrow.schema([(name, kinds.get(name, pyarrow.string())) for name in counts], metadata)
    rows = ({name: _cell(record.get(name), name in as_json) for name in counts} for record in _json_lines(source))
    with parquet.ParquetWriter(stream, schema, compression="zstd") as writer:
        while some := list(islice(rows, _ROWS_AT_A_TIME)):
            writer.write_batch(pyarrow.RecordBatch.from_pylist(some, schema))


def _json_lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as lines:
        yield from map(json.loads, lines)


def _cell(value: Any, as_json: bool) -> Any:
    if as_json:
        return None if value is None else json.dumps(value)
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    return [_cell(each, False) for each in value] if isinstance(value, list) else value


# Folders of record files, called parts, with a manifest that lists them in order. Programs that read folders of files
# skip its name, which begins with an underscore.

MANIFEST = "_manifest.json"
_FORMAT = {"format": "qdecomp parts", "version": 1}


class Manifest(NamedTuple):
    """The parts of a folder in order with their rows, all but the last with ``rows_per_part``; and if these are all."""

    rows_per_part: int
    parts: dict[str, int]
    complete: bool

    def to_json(self) -> str:
        """The content of the file; equal parts give equal text."""
        parts = [{"name": name, "rows": rows} for name, rows in self.parts.items()]
        sizes = {"complete": self.complete, "rows": sum(self.parts.values()), "rows_per_part": self.rows_per_part}
        return json.dumps({**_FORMAT, **sizes, "parts": parts}, indent=1) + "\n"


def is_folder_output(path: str | Path) -> bool:
    """Whether an output is a folder of parts: its name ends with a slash, or there is a folder of that name.

    >>> is_folder_output("out/graphs/"), is_folder_output("s3://bucket/graphs/"), is_folder_output("graphs.jsonl")
    (True, True, False)
    """
    return str(path).endswith(("/", os.sep)) or (address_of(path) is None and Path(path).is_dir())


def part_name(folder: str | Path, number: int) -> str:
    """The name of a part; its suffix depends on the name of the folder.

    >>> part_name("out/graphs/", 0), part_name("graphs.parquet/", 12), part_name("graphs.jsonl.gz/", 12)
    ('part-000000.jsonl', 'part-000012.parquet', 'part-000012.jsonl.gz')
    """
    suffix = Path(folder).suffix.lower()
    packed = suffix if suffix in (".gz", ".bz2", ".xz") else ""
    return f"part-{number:06}{'.parquet' if is_parquet_name(folder) else f'.jsonl{packed}'}"


def files_of(path: str | Path) -> list[str]:
    """The parts of a folder in order; a file is its own only part. A folder that is not complete is an error."""
    manifest = read_manifest(path)
    if manifest is None:
        return [str(path)]
    if not manifest.complete:
        rows = sum(manifest.parts.values())
        raise DataError(f"{path}: not complete: {rows:,} rows are there; run the command that writes it again")
    return [file_in(path, name) for name in manifest.parts]


def read_manifest(folder: str | Path) -> Manifest | None:
    """The manifest of a folder of parts; None for anything else."""
    with _system(folder, "read") as (system, place):
        if not system.exists(f"{place.rstrip('/')}/{MANIFEST}"):
            return None
    place = file_in(folder, MANIFEST)
    with open_binary(place) as stream:
        content = stream.read()
    try:
        value = json.loads(content)
        parts = {str(each["name"]): int(each["rows"]) for each in value["parts"]}
        # A part is a file in the folder, nowhere else.
        if _FORMAT.items() <= value.items() and all(name == Path(name).name for name in parts):
            return Manifest(int(value["rows_per_part"]), parts, value["complete"] is True)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        pass
    raise DataError(f"{place}: this manifest was not written by qdecomp")
