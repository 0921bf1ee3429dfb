"""Run the ``allennlp`` command many times: AllenNLP is imported once, and every run is a process forked from here.

As a program it reads a JSON list from its input, ``[{"arguments": [...], "cwd": ...}, ...]``, and its output is a
JSON list of ``{"code": ..., "output": ...}``. An exit code below zero is that of a signal.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from allennlp.__main__ import run
from allennlp.common.plugins import import_plugins


def prepare() -> None:
    """Import everything that the command imports, plugins included."""
    sys.argv = ["allennlp"]
    import_plugins()


def allennlp(*arguments: str) -> None:
    """The command itself, in this process."""
    sys.argv = ["allennlp", *arguments]
    run()


def in_new_process(log: Path, work: Callable[[], None]) -> int:
    """The exit code of a process that does the work and writes all of its output to the log."""
    process = os.fork()
    if process == 0:
        handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(handle, 1)
        os.dup2(handle, 2)
        code = _exit_code(work)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def _exit_code(work: Callable[[], None]) -> int:
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


def main() -> None:
    prepare()
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for number, task in enumerate(json.load(sys.stdin)):

            def work(task: dict[str, str | list[str]] = task) -> None:
                os.chdir(task["cwd"])
                allennlp(*task["arguments"])

            log = Path(folder) / f"{number}.log"
            code = in_new_process(log, work)
            results.append({"code": code, "output": log.read_text(encoding="utf-8")})
    print(json.dumps(results))


if __name__ == "__main__":
    main()
