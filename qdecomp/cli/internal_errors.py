"""What a command reports at its end if our code failed on some rows."""

from __future__ import annotations

import sys


def exit_after_internal_errors(rows: int) -> None:
    """Say how many rows failed because of a bug, and exit with code 1 if there are any."""
    if not rows:
        return
    what = "row" if rows == 1 else "rows"
    print(
        f"qdecomp: {rows:,} {what} failed with an internal error, please report it; all other rows are done",
        file=sys.stderr,
    )
    raise SystemExit(1)
