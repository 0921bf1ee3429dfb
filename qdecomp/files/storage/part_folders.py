"""Folders of record files, called parts, with a manifest that lists them in order.

The manifest is ``_manifest.json``: programs that read folders of files skip names that begin with an underscore.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

from qdecomp.data_structures.errors import DataError
from qdecomp.files.storage.addresses import address_of, exists_at, is_folder_at, read_address, remove_at, write_address
from qdecomp.files.writing.atomic import write_text_atomically
from qdecomp.files.writing.output_stream import writing

__all__ = [
    "MANIFEST",
    "Part",
    "PartManifest",
    "changed_part",
    "is_folder_output",
    "joined_parts",
    "opened_place",
    "place_in",
    "place_is_there",
    "read_manifest",
    "remove_place",
    "sha256_of",
    "write_manifest",
]

MANIFEST = "_manifest.json"
_FORMAT = "qdecomp parts"
_BYTES_AT_A_TIME = 1 << 16


@dataclass(frozen=True, slots=True)
class Part:
    """A file of a folder."""

    name: str
    rows: int
    sha256: str


@dataclass(frozen=True, slots=True)
class PartManifest:
    """The parts of a folder in order, all but the last with ``rows_per_part`` rows, and whether these are all."""

    rows_per_part: int
    parts: tuple[Part, ...] = ()
    complete: bool = False

    @property
    def rows(self) -> int:
        """The rows of all parts."""
        return sum(part.rows for part in self.parts)


def is_folder_output(path: str | Path) -> bool:
    """Whether an output is a folder of parts: its name ends with a slash, or there is a folder of that name.

    >>> is_folder_output("out/graphs/"), is_folder_output("s3://bucket/graphs/"), is_folder_output("graphs.jsonl")
    (True, True, False)
    """
    ends = ("/",) if os.altsep is None and os.sep == "/" else ("/", os.sep)
    return str(path).endswith(ends) or (address_of(path) is None and Path(path).is_dir())


def place_in(folder: str | Path, name: str) -> str:
    """The path or the address of a file in a folder."""
    address = address_of(folder)
    return str(Path(folder) / name) if address is None else f"{address.rstrip('/')}/{name}"


def place_is_there(place: str) -> bool:
    """Whether there is a file at a path or an address."""
    address = address_of(place)
    return Path(place).exists() if address is None else exists_at(address)


def remove_place(place: str) -> None:
    """Remove the file at a path or an address, if there is one."""
    address = address_of(place)
    if address is None:
        with writing(Path(place)):
            Path(place).unlink(missing_ok=True)
    elif exists_at(address):
        remove_at(address)


def read_manifest(folder: str | Path) -> PartManifest | None:
    """The manifest of a folder of parts; None for anything else."""
    address = address_of(folder)
    if not (Path(folder).is_dir() if address is None else is_folder_at(address)):
        return None
    place = place_in(folder, MANIFEST)
    if not place_is_there(place):
        return None
    with opened_place(place) as stream:
        content = stream.read()
    try:
        return _manifest_from_json(json.loads(content))
    except (ValueError, KeyError, TypeError, RecursionError):
        raise DataError(f"{place}: this manifest was not written by qdecomp") from None


def write_manifest(folder: str | Path, manifest: PartManifest) -> None:
    """Write the manifest of a folder."""
    text = json.dumps(_manifest_to_json(manifest), indent=1) + "\n"
    if address_of(folder) is None:
        with write_text_atomically(place_in(folder, MANIFEST)) as stream:
            stream.write(text)
    else:
        with write_address(place_in(folder, MANIFEST)) as binary:
            binary.write(text.encode())


def _manifest_to_json(manifest: PartManifest) -> dict[str, Any]:
    """The JSON form; equal parts give equal text."""
    return {
        "format": _FORMAT,
        "version": 1,
        "complete": manifest.complete,
        "rows": manifest.rows,
        "rows_per_part": manifest.rows_per_part,
        "parts": [asdict(part) for part in manifest.parts],
    }


def _manifest_from_json(value: Any) -> PartManifest:
    if value["format"] != _FORMAT or value["version"] != 1:
        raise ValueError
    parts = tuple(Part(str(each["name"]), int(each["rows"]), str(each["sha256"])) for each in value["parts"])
    # A part is a file in the folder, nowhere else.
    if any(part.name != Path(part.name).name for part in parts):
        raise ValueError
    return PartManifest(int(value["rows_per_part"]), parts, value["complete"] is True)


def joined_parts(
    folder: str | Path,
    manifest: PartManifest,
    unpack: Callable[[Any, Path], AbstractContextManager[Any]],
) -> Iterator[bytes]:
    """The content of all parts, one after another; ``unpack`` opens compressed ones.

    A folder that is not complete, and a part with another checksum, are a :class:`DataError`.
    """
    if not manifest.complete:
        raise DataError(
            f"{folder}: not complete: {manifest.rows:,} rows are there; run the command that writes it again"
        )
    for part in manifest.parts:
        place = place_in(folder, part.name)
        with opened_place(place) as raw:
            if sha256_of(raw) != part.sha256:
                raise changed_part(place)
            raw.seek(0)
            with unpack(raw, Path(place)) as content:
                while chunk := content.read(_BYTES_AT_A_TIME):
                    yield chunk


def changed_part(place: str) -> DataError:
    """The error for a part whose checksum is not that of the manifest."""
    return DataError(f"{place}: this file was changed after it was written; write the folder again, with --overwrite")


def sha256_of(stream: BinaryIO) -> str:
    """The checksum of a stream's content, as ``sha256sum`` prints it."""
    digest = hashlib.sha256()
    while chunk := stream.read(_BYTES_AT_A_TIME):
        digest.update(chunk)
    return digest.hexdigest()


def opened_place(place: str) -> AbstractContextManager[Any]:
    """The bytes of the file at a path or an address."""
    address = address_of(place)
    if address is not None:
        return read_address(address)
    try:
        return Path(place).open("rb")
    except OSError as error:
        raise DataError(f"{place}: cannot be read ({error.strerror or error})") from None
