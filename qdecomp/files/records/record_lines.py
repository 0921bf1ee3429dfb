"""Records as lines of a file, made by workers, so that the process that collects them only copies bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from qdecomp.files.writing.output_stream import UNENCODABLE

__all__ = ["RecordLine", "format_record"]


class RecordLine(NamedTuple):
    """The line of a record, and what the command counts about it."""

    line: bytes
    outcome: Any


def format_record(record: Mapping[str, Any]) -> bytes:
    """The line of a record.

    >>> format_record({"question": "größer ?"}).decode()
    '{"question": "größer ?"}\\n'
    """
    return json.dumps(record, ensure_ascii=False).encode(errors=UNENCODABLE) + b"\n"
