"""What a file is: its first line says so if it is JSON, and otherwise its name does."""

from __future__ import annotations

import re
from enum import Enum, auto
from pathlib import Path

from qdecomp.files.readers.text_files import open_text, text_suffix

__all__ = ["FileKind", "kind_by_first_line", "kind_by_name", "kind_of_file"]


class FileKind(Enum):
    """What a file of text holds."""

    CSV = auto()
    JSON_LINES = auto()
    JSON_ARRAY = auto()
    OTHER = auto()
    NOTHING = auto()


_BY_SUFFIX = {
    ".csv": FileKind.CSV,
    ".tsv": FileKind.CSV,
    ".json": FileKind.JSON_LINES,
    ".jsonl": FileKind.JSON_LINES,
    ".ndjson": FileKind.JSON_LINES,
}
# The beginning is enough, so that an object that is cut off does not become a CSV's header.
_BEGINNINGS = {
    re.compile(r'\s*\{\s*(?:\Z|[}"])'): FileKind.JSON_LINES,
    re.compile(r'\s*\[\s*(?:\Z|[\[{"])'): FileKind.JSON_ARRAY,
}


def kind_by_name(path: str | Path) -> FileKind:
    """What a file is by the end of its name, without that of its compression.

    >>> kind_by_name("predictions.jsonl.gz").name, kind_by_name("questions.txt").name
    ('JSON_LINES', 'OTHER')
    """
    return _BY_SUFFIX.get(text_suffix(path), FileKind.OTHER)


def kind_by_first_line(line: str) -> FileKind:
    """What begins with this line, which is not blank, as far as the line alone can tell.

    >>> kind_by_first_line('{"id": "a"}').name, kind_by_first_line("[").name, kind_by_first_line("id,text").name
    ('JSON_LINES', 'JSON_ARRAY', 'OTHER')
    """
    return next((kind for beginning, kind in _BEGINNINGS.items() if beginning.match(line)), FileKind.OTHER)


def kind_of_file(path: str | Path) -> FileKind:
    """What a file is: by its first line, or else by its name."""
    with open_text(path) as stream:
        first = next((line for line in stream if line.strip()), None)
    if first is None:
        return FileKind.NOTHING
    kind = kind_by_first_line(first)
    return kind_by_name(path) if kind is FileKind.OTHER else kind
