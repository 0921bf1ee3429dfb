"""Progress of long work: a bar on a terminal, otherwise a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from qdecomp.terminal.escapes import printable

__all__ = ["progress"]

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
            print(f"{description}: {done:,} of {total:,} ({rate:,.0f} a second)", file=sys.stderr, flush=True)
