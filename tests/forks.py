"""Work in processes that are forked from this one, so that nothing is imported again."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path


def fork(log: Path, work: Callable[[], object]) -> int:
    """The id of a process, and process group, that does the work, appends its output to the log, and ends."""
    process = os.fork()
    if process:
        return process
    os.setsid()
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(handle, stream)
    code = _exit_code(work)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _exit_code(work: Callable[[], object]) -> int:
    """What Python itself does at the end of a program: an error goes to the hook, which may ask for an exit code."""
    try:
        try:
            work()
        except SystemExit:
            raise
        except BaseException:
            sys.excepthook(*sys.exc_info())
            return 1
    except SystemExit as ending:
        return ending.code if isinstance(ending.code, int) else int(ending.code is not None)
    return 0


def exit_code(process: int) -> int:
    """Wait for a process; a negative exit code is that of a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
