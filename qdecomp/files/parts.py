"""Folders of record files, called parts, with a manifest that lists them in order.

The manifest is ``_manifest.json``: programs that read folders of files skip names that begin with an underscore.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from qdecomp.data_structures.errors import DataError
from qdecomp.files.sources import address_of, exists, file_in, is_folder, is_parquet_name, open_binary

MANIFEST = "_manifest.json"
_FORMAT = {"format": "qdecomp parts", "version": 1}


@dataclass(frozen=True, slots=True)
class Part:
    """A file of a folder."""

    name: str
    rows: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """The parts of a folder in order, all but the last with ``rows_per_part`` rows, and whether these are all."""

    rows_per_part: int
    parts: tuple[Part, ...] = ()
    complete: bool = False

    @property
    def rows(self) -> int:
        """The rows of all parts."""
        return sum(part.rows for part in self.parts)

    def to_json(self) -> dict[str, Any]:
        """The content of the file; equal parts give equal text."""
        parts = [asdict(part) for part in self.parts]
        sizes = {"complete": self.complete, "rows": self.rows, "rows_per_part": self.rows_per_part}
        return {**_FORMAT, **sizes, "parts": parts}


def is_folder_output(path: str | Path) -> bool:
    """Whether an output is a folder of parts: its name ends with a slash, or there is a folder of that name.

    >>> is_folder_output("out/graphs/"), is_folder_output("s3://bucket/graphs/"), is_folder_output("graphs.jsonl")
    (True, True, False)
    """
    return str(path).endswith(("/", os.sep)) or (address_of(path) is None and Path(path).is_dir())


def part_name(folder: str | Path, number: int) -> str:
    """The name of a part; its suffix depends on the name of the folder.

    >>> part_name("out/", 0), part_name("out.parquet/", 1), part_name("out.jsonl.gz/", 2)
    ('part-000000.jsonl', 'part-000001.parquet', 'part-000002.jsonl.gz')
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
        raise DataError(f"{path}: not complete: {manifest.rows:,} rows are there; run the command that writes it again")
    return [file_in(path, part.name) for part in manifest.parts]


def read_manifest(folder: str | Path) -> Manifest | None:
    """The manifest of a folder of parts; None for anything else."""
    place = file_in(folder, MANIFEST)
    if not is_folder(folder) or not exists(place):
        return None
    with open_binary(place) as stream:
        content = stream.read()
    try:
        value = json.loads(content)
        if any(value[name] != expected for name, expected in _FORMAT.items()):
            raise ValueError
        parts = tuple(Part(str(each["name"]), int(each["rows"])) for each in value["parts"])
        # A part is a file in the folder, nowhere else.
        if any(part.name != Path(part.name).name for part in parts):
            raise ValueError
        return Manifest(int(value["rows_per_part"]), parts, value["complete"] is True)
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        raise DataError(f"{place}: this manifest was not written by qdecomp") from None
