"""What workers do in the tests; they import it by its name."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from pathlib import Path

POISON = "poison"


def shout(rows: Sequence[str]) -> list[str]:
    """Each row in capitals; the poisoned one ends the process."""
    if POISON in rows:
        os.kill(os.getpid(), signal.SIGKILL)
    return [row.upper() for row in rows]


def shout_after_one_death(marker: Path, rows: Sequence[str]) -> list[str]:
    """Like :func:`shout`, but the first worker that reaches row 7 dies without a message."""
    if "row 7" in rows and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return shout(rows)


def fail(rows: Sequence[str]) -> list[str]:
    """Raise an error of the operating system, as a worker without a disk does."""
    raise OSError(f"no disk for {rows[0]}")
