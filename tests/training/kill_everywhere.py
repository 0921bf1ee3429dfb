"""Train, killed in the middle of each of its writes and before each of its other changes; recover each time.

Run in the project's root: ``python -m tests.training.kill_everywhere CONFIG FOLDER``. The last line of its output is a
JSON list with a record for each kill: the change, the folder, the epochs of the newest checkpoint that it left, and the
exit codes of the training that was killed and of the one that recovered. The log of each is beside the folder.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from allennlp.__main__ import run
from allennlp.common.plugins import import_plugins

from tests.forks import exit_code, fork

# The events that Python reports before it changes something on the disk, and how many of their arguments are paths.
_CHANGES = {"open": 1, "os.mkdir": 1, "os.remove": 1, "os.rename": 2, "os.link": 2}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT

_Act = Callable[[int, str, str], None]


def _watch(folder: Path, act: _Act) -> None:
    """From now on, call ``act`` with the number, the event and the path of each change below the folder."""
    count = 0
    is_acting = False

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal count, is_acting
        if is_acting or event not in _CHANGES or (event == "open" and not arguments[2] & _WRITING):
            return
        paths = [str(path) for path in arguments[: _CHANGES[event]]]
        if any(path.startswith(str(folder)) for path in paths):
            is_acting = True
            act(count, event, paths[-1])
            is_acting = False
            count += 1

    sys.addaudithook(hook)


def _train(config: Path, folder: Path, log: str, act: _Act | None, *options: str) -> int:
    def work() -> None:
        if act is not None:
            _watch(folder, act)
        sys.argv = ["allennlp", "train", str(config), "-s", str(folder), *options]
        run()

    return exit_code(fork(folder.with_suffix(log), work))


def _changes_of_a_training(config: Path, folder: Path) -> list[tuple[str, str]]:
    record = folder.with_suffix(".jsonl")

    def act(_: int, event: str, path: str) -> None:
        with record.open("a", encoding="utf-8") as stream:
            print(json.dumps([event, path]), file=stream)

    if _train(config, folder, ".log", act) != 0:
        raise SystemExit(folder.with_suffix(".log").read_text(encoding="utf-8"))
    return [(event, path) for event, path in map(json.loads, record.read_text(encoding="utf-8").splitlines())]


def _kill_at(wanted: int) -> _Act:
    def act(number: int, event: str, path: str) -> None:
        if number == wanted:
            if event == "open":
                # What is on disk if a process dies while it writes a file.
                Path(path).write_bytes(b"{")
            os.kill(os.getpid(), signal.SIGKILL)

    return act


def _newest_checkpoint(folder: Path) -> int | None:
    """The epochs of the newest checkpoint of which both files are there under their names; None without any."""
    epochs = [
        int(path.name.removeprefix("training_state_e").removesuffix("_b0.th"))
        for path in folder.glob("training_state_*.th")
        if path.with_name(path.name.replace("training", "model", 1)).exists()
    ]
    return max(epochs, default=None)


def main(config: Path, root: Path) -> None:
    # Everything that the command imports, plugins included.
    sys.argv = ["allennlp"]
    import_plugins()
    uninterrupted = root / "uninterrupted"
    results = []
    for number, (event, path) in enumerate(_changes_of_a_training(config, uninterrupted)):
        folder = root / f"killed_{number}"
        killed = _train(config, folder, ".killed.log", _kill_at(number))
        newest = _newest_checkpoint(folder)
        recovered = _train(config, folder, ".recovered.log", None, "--recover")
        change = f"{event} {os.path.relpath(path, uninterrupted)}"
        results.append(
            {"change": change, "folder": str(folder), "newest": newest, "killed": killed, "recovered": recovered}
        )
    print(json.dumps(results))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
