"""Runs that write records to any kind of file, and that may be stopped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from qdecomp.files import read_json_lines
from qdecomp.files.outputs import format_record, resume_records


def write_records(
    records: Sequence[Mapping[str, Any]], path: str, keys: Sequence[str], stop_at: int | None = None, **options: Any
) -> list[str]:
    """Write the missing records; return the keys of those that were already there."""
    found: list[str] = []
    with resume_records(path, keys, on_record=lambda record: found.append(record["key"]), **options) as writer:
        assert writer.done == len(found)
        for record in records[writer.done : len(keys)]:
            if writer.done == stop_at:
                raise KeyboardInterrupt
            writer.write(format_record(record))
    return found


def records_of(path: str) -> list[Any]:
    """What readers of the path find."""
    return [record for _, record in read_json_lines(path)]
