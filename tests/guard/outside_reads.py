"""Logs every file that Python opens, and every folder that it lists, outside the places that tests may read.

Those are the clone, the temporary folder, the environment (the interpreter, its packages, the system's own folders)
and, if the variable is set, the shared data. ``sitecustomize`` in this folder starts the same watch in every Python
process that a test starts, so that this module imports nothing but what an interpreter has loaded anyway.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

__all__ = ["ALLOWED", "LOG", "environment_folders", "is_inside", "watch"]

LOG = "QDECOMP_TESTS_READS_LOG"
"""The variable that names the file to which each process adds the paths that it should not have read."""
ALLOWED = "QDECOMP_TESTS_READS_ALLOWED"
"""The variable with the folders that may be read."""

_EVENTS = frozenset(("open", "os.listdir", "os.scandir"))
_SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/sbin", "/etc", "/opt", "/proc", "/sys", "/dev", "/run", "/var", "/nix")


def environment_folders() -> list[str]:
    """The interpreter, its packages, and what the system has for every program."""
    folders = [
        sys.prefix,
        sys.base_prefix,
        sys.exec_prefix,
        os.path.dirname(os.path.realpath(sys.executable)),
        *_SYSTEM,
    ]
    return [each for folder in folders for each in (folder, os.path.realpath(folder))]


def is_inside(path: str, folders: Iterable[str]) -> bool:
    """Whether a path, as it is written or with its links followed, is one of the folders or below one."""
    written, real = os.path.abspath(path), os.path.realpath(path)
    return any(
        each == folder or each.startswith(folder.rstrip(os.sep) + os.sep)
        for folder in folders
        for each in (written, real)
    )


def watch() -> None:
    """From now on, add to the log what this process reads outside, once for each path."""
    allowed = tuple(os.environ[ALLOWED].split(os.pathsep))
    log = os.open(os.environ[LOG], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    known: set[str] = set()

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event not in _EVENTS:
            return
        place = arguments[0] if arguments[0] is not None else "."
        if isinstance(place, int) or not isinstance(place, (str, bytes, os.PathLike)):
            return
        path = os.fsdecode(place)
        # The import system lists the folders on its path; what it opens in them is looked at like any other file.
        if path in known or (event != "open" and path in sys.path):
            return
        known.add(path)
        if not is_inside(path, allowed) and os.path.exists(path):
            os.write(log, f"{os.path.abspath(path)} ({event}, by {' '.join(sys.argv[:2])})\n".encode(errors="replace"))

    sys.addaudithook(hook)
