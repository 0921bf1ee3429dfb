"""Writes records to any kind of file, so that a run that was stopped can be resumed.

JSON lines can be appended to. Parquet, compressed and remote files cannot: until all of their records are there, these
are JSON lines next to the file or in the user's cache. A folder of parts has a file for every so many records.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from qdecomp.files.records.part_output import resume_parts
from qdecomp.files.records.record_packing import (
    is_packed,
    pack_records,
    publish_records,
    require_writable,
    unfinished_place,
)
from qdecomp.files.records.resumable import JsonLinesWriter, count_finished, resume_json_lines
from qdecomp.files.storage.addresses import address_of
from qdecomp.files.storage.part_folders import is_folder_output, place_is_there

__all__ = ["RecordWriter", "resume_records"]


class RecordWriter(Protocol):
    """Takes the lines of records."""

    done: int
    """How many records there are."""

    def write(self, line: bytes) -> None:
        """Append a record, see :func:`~qdecomp.files.records.record_lines.format_record`."""


@contextmanager
def resume_records(
    path: str | Path,
    keys: Iterable[str],
    *,
    overwrite: bool = False,
    on_record: Callable[[Mapping[str, Any]], None] | None = None,
    part_rows: int | None = None,
) -> Iterator[RecordWriter]:
    """Like :func:`~.resumable.resume_json_lines`, for whatever kind of file and place the name says.

    A name that ends with a slash stands for a folder of parts with ``part_rows`` records each.
    """
    if is_folder_output(path):
        with resume_parts(path, keys, part_rows=part_rows, overwrite=overwrite, on_record=on_record) as parts:
            yield parts
        return
    path = Path(path)
    if address_of(path) is None and not is_packed(path):
        with resume_json_lines(path, keys, overwrite=overwrite, on_record=on_record) as writer:
            yield writer
        return
    require_writable(path)
    unfinished = unfinished_place(path)
    if not overwrite and not unfinished.exists() and place_is_there(str(path)):
        yield JsonLinesWriter(io.BytesIO(), path, count_finished(path, keys, on_record))
        return
    with resume_json_lines(unfinished, keys, overwrite=overwrite, on_record=on_record) as writer:
        yield writer
    publish_records(unfinished, pack_records(unfinished, path), path)
