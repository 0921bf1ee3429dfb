"""Writes records to a folder of parts, so that a run that was stopped can be resumed.

A part is written under a temporary name and appears when it has all of its rows. The manifest says whether all parts
are there; a run that is resumed looks at the parts themselves.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import count, islice, takewhile
from pathlib import Path
from typing import Any

from qdecomp.data_structures.errors import DataError
from qdecomp.files.records.record_packing import (
    pack_records,
    part_suffix,
    publish_records,
    require_writable,
    unfinished_place,
)
from qdecomp.files.records.resumable import JsonLinesWriter, count_finished, locked_folder, resume_json_lines
from qdecomp.files.storage.addresses import address_of
from qdecomp.files.storage.part_folders import (
    MANIFEST,
    Part,
    PartManifest,
    changed_part,
    opened_place,
    place_in,
    place_is_there,
    read_manifest,
    remove_place,
    sha256_of,
    write_manifest,
)
from qdecomp.files.writing.output_stream import writing

__all__ = ["PART_ROWS", "PartsWriter", "resume_parts"]

PART_ROWS = 10_000
"""How many rows a part has by default."""

# A hundred million rows have ten thousand parts, and the manifest names them all.
_SECONDS_BETWEEN_MANIFESTS = 1.0

OnRecord = Callable[[Mapping[str, Any]], None]


@contextmanager
def resume_parts(
    folder: str | Path,
    keys: Iterable[str],
    *,
    part_rows: int | None = None,
    overwrite: bool = False,
    on_record: OnRecord | None = None,
) -> Iterator[PartsWriter]:
    """Open a folder of parts for writing; complete records that are already there are kept and go to ``on_record``.

    With ``overwrite``, the parts are written from the start. A folder that holds other files is left alone.
    """
    require_writable(folder)
    with ExitStack() as stack:
        if address_of(folder) is None:
            stack.enter_context(_own_folder(Path(folder)))
        before = read_manifest(folder)
        known = before or PartManifest(part_rows or PART_ROWS)
        if part_rows not in (None, known.rows_per_part) and not overwrite:
            raise DataError(
                f"{folder}: its parts have {known.rows_per_part:,} rows, not {part_rows:,}; "
                "give that number or another folder, or overwrite it"
            )
        writer = PartsWriter(folder, part_rows or (PART_ROWS if overwrite else known.rows_per_part))
        stack.callback(writer.stop)
        if overwrite:
            writer.begin_anew()
        else:
            writer.keep(known, iter(keys), on_record)
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
    with locked_folder(path):
        yield


class PartsWriter:
    """Appends records to the last part, and starts another when it is full."""

    def __init__(self, folder: str | Path, part_rows: int) -> None:
        self._folder = folder
        self._part_rows = part_rows
        self._parts: list[Part] = []
        self._open = ExitStack()
        self._lines: JsonLinesWriter | None = None
        self._told = -_SECONDS_BETWEEN_MANIFESTS
        self.done = 0
        """How many records the folder has."""

    def write(self, line: bytes) -> None:
        """Append a record."""
        lines = self._lines or self._begin((), overwrite=True)
        lines.write(line)
        self.done += 1
        if lines.done == self._part_rows:
            self._end(lines)

    def keep(self, known: PartManifest, keys: Iterator[str], on_record: OnRecord | None) -> None:
        """Keep what an earlier run wrote; raises unless it has these keys."""
        checksums = {part.name: part.sha256 for part in known.parts}
        while place_is_there(self._place()):
            place = self._place()
            with opened_place(place) as stream:
                checksum = sha256_of(stream)
            if checksums.get(Path(place).name, checksum) != checksum:
                raise changed_part(place)
            rows = count_finished(place, islice(keys, self._part_rows), on_record)
            # A run that was killed at just that moment leaves it behind.
            unfinished_place(place).unlink(missing_ok=True)
            self._parts.append(Part(Path(place).name, rows, checksum))
            self.done += rows
        if unfinished_place(self._place()).exists():
            self.done += self._begin(islice(keys, self._part_rows), on_record=on_record).done

    def begin_anew(self) -> None:
        """Remove all parts, the last one first, so that none is ever missing in the middle."""
        self._tell(complete=False)
        numbers = list(takewhile(lambda number: place_is_there(self._place(number)), count()))
        for number in reversed([*numbers, len(numbers)]):
            unfinished_place(self._place(number)).unlink(missing_ok=True)
            remove_place(self._place(number))

    def finish(self) -> None:
        """Finish the last part, and mark the folder as complete."""
        if self._lines is not None:
            self._end(self._lines)
        self._tell(complete=True)

    def stop(self) -> None:
        """Close the last part, so that another run can resume it."""
        self._open.close()

    def _place(self, number: int | None = None) -> str:
        number = len(self._parts) if number is None else number
        return place_in(self._folder, f"part-{number:06}{part_suffix(self._folder)}")

    def _begin(
        self, keys: Iterable[str], *, overwrite: bool = False, on_record: OnRecord | None = None
    ) -> JsonLinesWriter:
        self._tell_now_and_then()
        unfinished = unfinished_place(self._place())
        lines = resume_json_lines(unfinished, keys, overwrite=overwrite, on_record=on_record)
        self._lines = self._open.enter_context(lines)
        return self._lines

    def _end(self, lines: JsonLinesWriter) -> None:
        self._open.close()
        self._lines = None
        place = self._place()
        unfinished = unfinished_place(place)
        packed = pack_records(unfinished, place)
        with packed.open("rb") as stream:
            checksum = sha256_of(stream)
        publish_records(unfinished, packed, place)
        self._parts.append(Part(Path(place).name, lines.done, checksum))

    def _tell_now_and_then(self) -> None:
        if time.monotonic() - self._told >= _SECONDS_BETWEEN_MANIFESTS:
            self._tell(complete=False)

    def _tell(self, *, complete: bool) -> None:
        write_manifest(self._folder, PartManifest(self._part_rows, tuple(self._parts), complete))
        self._told = time.monotonic()
