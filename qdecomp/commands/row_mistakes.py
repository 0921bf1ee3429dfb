"""What a command reports at its end if our code failed on some rows."""

from __future__ import annotations

import sys

__all__ = ["tell_mistakes"]


def tell_mistakes(rows: int) -> None:
    """Say how many rows have an error by a mistake of ours, and exit with code 1 if there are any."""
    if not rows:
        return
    what = "row has an error that is" if rows == 1 else "rows have errors that are"
    print(f"qdecomp: {rows:,} {what} a mistake in qdecomp, please report it; all other rows are done", file=sys.stderr)
    raise SystemExit(1)
