"""Turns JSON lines that are complete into the file that the output's name asks for: Parquet, compressed, remote."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json
import lzma
import os
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from qdecomp.files.readers.text_files import read_json_lines
from qdecomp.files.storage.addresses import address_of, require_readable_address, write_address
from qdecomp.files.storage.parquet import require_parquet, write_parquet
from qdecomp.files.writing.output_stream import writing

__all__ = ["is_packed", "pack_records", "part_suffix", "publish_records", "require_writable", "unfinished_place"]

_PARQUET = frozenset({".parquet", ".pq"})


# Without a name and a time in it, equal records give equal bytes.
_PACKERS: dict[str, Callable[[BinaryIO], AbstractContextManager[Any]]] = {
    ".gz": lambda stream: gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0),
    ".bz2": partial(bz2.BZ2File, mode="wb"),
    ".xz": partial(lzma.LZMAFile, mode="wb"),
}


def is_packed(place: str | Path) -> bool:
    """Whether the name of a file asks for anything but plain JSON lines.

    >>> is_packed("out.jsonl.gz"), is_packed("out.parquet"), is_packed("out.jsonl")
    (True, True, False)
    """
    return _suffix(place) in _PARQUET or _suffix(place) in _PACKERS


def part_suffix(folder: str | Path) -> str:
    """The suffix of a folder's parts, which depends on the name of the folder.

    >>> part_suffix("out/"), part_suffix("out.parquet/"), part_suffix("out.jsonl.gz/")
    ('.jsonl', '.parquet', '.jsonl.gz')
    """
    if _suffix(folder) in _PARQUET:
        return ".parquet"
    return f".jsonl{_suffix(folder)}" if is_packed(folder) else ".jsonl"


def _suffix(place: str | Path) -> str:
    return Path(place).suffix.lower()


def require_writable(place: str | Path) -> None:
    """Raise unless the packages that this kind of file and place need are installed."""
    address = address_of(place)
    if _suffix(place) in _PARQUET:
        require_parquet(address or str(place))
    if address is not None:
        require_readable_address(address)


def unfinished_place(place: str | Path) -> Path:
    """Where the records of a file are until it is complete: next to it or, for a remote file, in the user's cache."""
    address = address_of(place)
    if address is None:
        return Path(place).with_name(f".{Path(place).name}.unfinished")
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "qdecomp"
    return folder / f"{hashlib.blake2b(address.encode(), digest_size=16).hexdigest()}.unfinished"


def pack_records(unfinished: Path, place: str | Path) -> Path:
    """Make a local file with the final content of the output."""
    if not is_packed(place):
        return unfinished
    packed = unfinished.with_name(f"{unfinished.name}.packed")
    with writing(Path(place)), packed.open("wb") as stream:
        if _suffix(place) in _PARQUET:
            write_parquet(stream, (record for _, record in read_json_lines(unfinished)), _fields(unfinished))
        else:
            with unfinished.open("rb") as records, _PACKERS[_suffix(place)](stream) as packer:
                shutil.copyfileobj(records, packer)
    return packed


def publish_records(unfinished: Path, packed: Path, place: str | Path) -> None:
    """Move the file that :func:`pack_records` made to its place, and remove what is left over."""
    address = address_of(place)
    if address is None:
        with writing(Path(place)):
            os.replace(packed, place)
    else:
        with packed.open("rb") as content, write_address(address) as stream:
            shutil.copyfileobj(content, stream)
        packed.unlink()
    unfinished.unlink(missing_ok=True)


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
