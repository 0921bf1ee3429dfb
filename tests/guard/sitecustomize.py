"""Logs every file that Python opens, and every folder that it lists, outside the places that tests may read.

Those are the clone, the temporary folder, the environment (the interpreter, its packages, the system's own folders)
and, if the variable is set, the shared data. The tests put this folder on PYTHONPATH, so that Python imports the module
at the start of every process that a test starts; it imports nothing but what an interpreter has loaded anyway.
"""

from __future__ import annotations

import os
import sys

LOG = "QDECOMP_TESTS_READS_LOG"
"""The variable that names the file to which each process adds the paths that it should not have read."""
ALLOWED = "QDECOMP_TESTS_READS_ALLOWED"
"""The variable with the folders that may be read."""

_SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/sbin", "/etc", "/opt", "/proc", "/sys", "/dev", "/run", "/var", "/nix")


def environment_folders() -> list[str]:
    """The interpreter, its packages, and what the system has for every program."""
    program = os.path.dirname(os.path.realpath(sys.executable))
    folders = [sys.prefix, sys.base_prefix, sys.exec_prefix, program, *_SYSTEM]
    return [each for folder in folders for each in (folder, os.path.realpath(folder))]


def watch() -> None:
    """From now on, add to the log what this process reads outside, once for each path."""
    allowed = tuple(folder.rstrip(os.sep) + os.sep for folder in os.environ[ALLOWED].split(os.pathsep))
    log = os.open(os.environ[LOG], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    known: set[str] = set()

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event not in ("open", "os.listdir", "os.scandir"):
            return
        place = arguments[0] if arguments[0] is not None else "."
        if not isinstance(place, (str, bytes, os.PathLike)):
            return
        path = os.fsdecode(place)
        # The import system lists the folders on its path; what it opens in them is looked at like any other file.
        if path in known or (event != "open" and path in sys.path):
            return
        known.add(path)
        # As it is written, or with its links followed.
        is_inside = any(f"{each(path)}{os.sep}".startswith(allowed) for each in (os.path.abspath, os.path.realpath))
        if not is_inside and os.path.exists(path):
            os.write(log, f"{os.path.abspath(path)} ({event}, by {' '.join(sys.argv[:2])})\n".encode(errors="replace"))

    sys.addaudithook(hook)


if __name__ == "sitecustomize" and LOG in os.environ:
    watch()
