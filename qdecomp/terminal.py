"""What the terminal shows: text from outside made safe to print, progress of long work, and tables.

A question, an id or a file name may contain escape sequences, which would move the cursor, change the title of the
window or worse. All such text is printed through :func:`printable` or :func:`echo_data`.
"""

from __future__ import annotations

import csv
import io
import os
import re
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TextIO, TypeVar

import click

# Control characters (a line break and a tab are harmless), marks that reverse the direction of the text, and halves of
# characters, which cannot be encoded.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_UNENCODABLE = re.compile("[\ud800-\udfff]")


def printable(text: str) -> str:
    r"""The text with unprintable characters as escapes, which JSON can read, too.

    >>> print(printable("red \x1b[31m cubes"))
    red \u001b[31m cubes
    """
    return _UNPRINTABLE.sub(_escape, text)


def echo_data(text: str) -> None:
    """Print what another program may read: as it is, but without control characters if it goes to a terminal."""
    unwanted = _UNPRINTABLE if sys.stdout.isatty() else _UNENCODABLE
    # With color, because click would remove what looks like a colour.
    click.echo(unwanted.sub(_escape, text), color=True)


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


STYLES: Mapping[str, str] = MappingProxyType(
    {
        "select": "default",
        "filter": "blue",
        "project": "cyan",
        "aggregate": "red",
        "group": "yellow",
        "superlative": "bright_red",
        "comparative": "magenta",
        "comparison": "bright_blue",
        "union": "green",
        "intersection": "bright_green",
        "discard": "bright_red",
        "sort": "yellow",
        "boolean": "bright_magenta",
        "arithmetic": "bright_yellow",
        "span": "bright_black",
        "duplicate": "bright_black",
        "unused": "bright_black",
        "unknown": "default",
    }
)
"""The colours of operators and structural edges; pictures have their own, since a terminal has its own palette."""

T = TypeVar("T")

_SECONDS_BETWEEN_LINES = 5.0


def progress(items: Iterable[T], description: str, total: int) -> Iterator[T]:
    """Pass the items on, with a bar on a terminal and otherwise a line every few seconds (on standard error)."""
    description = printable(description)
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import track

        yield from track(items, description, total=total, console=Console(stderr=True))
        return
    started = last = time.monotonic()
    for done, item in enumerate(items, start=1):
        yield item
        now = time.monotonic()
        if now - last >= _SECONDS_BETWEEN_LINES:
            last = now
            rate = done / (now - started)
            left = _in_words((total - done) / rate)
            line = f"{description}: {done:,} of {total:,} ({rate:,.0f} a second, about {left} left)"
            print(line, file=sys.stderr, flush=True)


def _in_words(seconds: float) -> str:
    """A time, roughly.

    >>> _in_words(41), _in_words(200), _in_words(9000)
    ('41 seconds', '3 minutes', '2.5 hours')
    """
    if seconds < 120:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.1f} hours"


# Full-width signs, too: some spreadsheets treat them like the plain ones.
_FORMULA_STARTS = ("=", "+", "-", "@", "|", "\uff1d", "\uff0b", "\uff0d", "\uff20")


@dataclass(frozen=True, slots=True)
class Table:
    """A title, the heads of the columns, and rows of text; the first ``text_columns`` columns are words."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    text_columns: int = 1
    note: str = ""


def show_tables(tables: Iterable[Table], stream: TextIO | None = None) -> None:
    """Print tables, with an empty line between them.

    A table that is wider than the terminal, or than ``COLUMNS``, has a line for each cell instead.
    """
    stream = sys.stdout if stream is None else stream
    is_limited = stream.isatty() or "COLUMNS" in os.environ
    width = shutil.get_terminal_size((0, 0)).columns if is_limited else 0
    for number, table in enumerate(tables):
        if number:
            print(file=stream)
        text = printable(format_plain(table))
        is_too_wide = 0 < width < max(map(len, text.split("\n")[1 : 2 + len(table.rows)]))
        print(printable(_stacked(table)) if is_too_wide else text, file=stream)


def _stacked(table: Table) -> str:
    """A line for each cell.

    >>> print(_stacked(Table("Rows", ("file", "rows", "converted"), (("train", "10", "9"),))))
    Rows
    train
      rows: 10
      converted: 9
    """
    lines = [table.title]
    for row in table.rows:
        lines.append(", ".join(filter(None, row[: table.text_columns])))
        cells = zip(table.columns[table.text_columns :], row[table.text_columns :], strict=True)
        lines += [f"  {head}: {cell}" for head, cell in cells]
    return "\n".join([*lines, table.note] if table.note else lines)


def format_plain(table: Table) -> str:
    """Text with columns that line up: words to the left, numbers to the right.

    >>> print(format_plain(Table("Rows", ("file", "rows"), (("train", "10"), ("dev", "7")))))
    Rows
    file   rows
    train    10
    dev       7
    """
    lines = [table.columns, *table.rows]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    text = [table.title]
    for line in lines:
        padded = (
            cell.ljust(width) if column < table.text_columns else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        text.append("  ".join(padded).rstrip())
    return "\n".join([*text, table.note] if table.note else text)


def format_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Columns and rows as CSV text, in which no text is a formula for a spreadsheet.

    >>> print(format_csv(["system", "difference"], [["=1+1", -0.5]]), end="")
    system,difference
    '=1+1,-0.5
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(map(_without_formula, columns))
    writer.writerows(map(_without_formula, row) for row in rows)
    return stream.getvalue()


def _without_formula(cell: object) -> object:
    """A text that a spreadsheet would run, even after spaces, gets a quote before it; numbers stay as they are."""
    return f"'{cell}" if isinstance(cell, str) and str(cell).lstrip().startswith(_FORMULA_STARTS) else cell
