"""Kill commands at random moments, run each again, and compare what they wrote with uninterrupted runs.

Run in the project's root: ``python -m tests.stress.killed_commands [KILLS [SEED]]``. All modules are imported once and
every run is forked from here, so that the moments fall into the work and not into imports. The exit code is 1 if an
output differs, a second run fails, or something is left beside the outputs.
"""

from __future__ import annotations

import csv
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

from qdecomp.cli import main
from tests.forks import exit_code, fork

_ROOT = Path(__file__).resolve().parents[2]
_ROWS = 250
_QUESTIONS = 40
_SCORED = "--gold rows.csv --predictions predictions.jsonl"
# By name: the arguments, in which OUT is the folder of the run.
COMMANDS = {
    "convert": "convert --input rows.csv --output OUT/graphs.jsonl --processes 1",
    "convert in processes": "convert --input rows.csv --output OUT/graphs.jsonl --processes 2",
    "convert to a folder": "convert --input rows.csv --output OUT/graphs/ --part-rows 20 --processes 1",
    "convert to gzip": "convert --input rows.csv --output OUT/graphs.jsonl.gz --processes 1",
    "parse": "parse --input questions.txt --output OUT/parsed.jsonl --processes 1 --batch-size 4",
    "parse to a folder": "parse --input questions.txt --output OUT/parsed/ --part-rows 7 --processes 1 --batch-size 4",
    "combine": "combine predictions.jsonl rows.csv --output OUT/combined.jsonl",
    "evaluate": f"evaluate {_SCORED} --json OUT/scores.json --details OUT/details.jsonl",
    "report": f"report {_SCORED} --output OUT/report",
    "render": "render --input predictions.jsonl --gold rows.csv --limit 40 --output OUT/page.html",
}


def write_inputs(folder: Path) -> None:
    """Files made from the sample set."""
    with (_ROOT / "data" / "train.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))[:_ROWS]
    with (folder / "rows.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    questions = "\n".join(row["question_text"] for row in rows[:_QUESTIONS])
    (folder / "questions.txt").write_text(questions, encoding="utf-8")
    with (folder / "predictions.jsonl").open("w", encoding="utf-8") as stream:
        for number, row in enumerate(rows):
            # Predictions that are right, wrong and missing.
            text = row["decomposition"] if number % 3 else "return cubes"
            record = {"question_id": row["question_id"], "question": row["question_text"]}
            stream.write(json.dumps({**record, "decomposition": text if number % 7 else None}) + "\n")


def prepare() -> None:
    """Import what the commands import."""
    for command in sorted({arguments.split()[0] for arguments in COMMANDS.values()}):
        import_module(f"qdecomp.cli.{command}")
    from qdecomp import load
    from qdecomp.evaluation import report

    assert report is not None
    load()


def start(arguments: str, inputs: Path, folder: Path) -> int:
    """Run a command in its own process and process group; returns its id."""

    def work() -> None:
        os.chdir(inputs)
        # With the graphs of an earlier run, a command would finish before it can be killed.
        os.environ["QDECOMP_CACHE"] = str(folder.with_suffix(".cache"))
        main(arguments.replace("OUT", str(folder)).split())

    return fork(folder.with_suffix(".log"), work)


def written(folder: Path) -> Mapping[str, bytes]:
    """All files of a run."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@dataclass
class Killer:
    """The uninterrupted runs, how long they took, and what became of those that were killed."""

    root: Path
    chance: random.Random
    kills: Counter[str] = field(default_factory=Counter)
    missed: int = 0
    wrong: list[str] = field(default_factory=list)
    _expected: dict[str, Mapping[str, bytes]] = field(default_factory=dict)
    _seconds: dict[str, float] = field(default_factory=dict)

    def kill(self, name: str) -> None:
        """Kill a command once, unless it ends before, and run it again."""
        if name not in self._expected:
            self._learn(name)
        folder = self._folder(f"{name} {self.kills.total()} {self.missed}")
        process = start(COMMANDS[name], self.root / "inputs", folder)
        time.sleep(self.chance.uniform(0.0, self._seconds[name]))
        try:
            os.killpg(process, signal.SIGKILL)
        except ProcessLookupError:  # it has no group yet
            os.kill(process, signal.SIGKILL)
        was_killed = exit_code(process) == -signal.SIGKILL
        # How long a run takes depends on what else the machine does.
        self._seconds[name] *= 1.05 if was_killed else 0.7
        self.kills[name] += was_killed
        self.missed += not was_killed
        if was_killed:
            code = exit_code(start(COMMANDS[name], self.root / "inputs", folder))
            found, expected = written(folder), self._expected[name]
            differing = sorted(part for part in found.keys() | expected.keys() if found.get(part) != expected.get(part))
            if code != 0 or differing:
                self.wrong.append(f"{name}: exit code {code}, differs: {', '.join(differing[:5])}; see {folder}")

    def _learn(self, name: str) -> None:
        """Run a command to its end, twice: what differs between runs would look like a loss."""
        results = []
        for number in range(2):
            folder = self._folder(f"whole {name} {number}")
            started = time.monotonic()
            code = exit_code(start(COMMANDS[name], self.root / "inputs", folder))
            self._seconds[name] = time.monotonic() - started
            if code != 0:
                raise SystemExit(folder.with_suffix(".log").read_text(encoding="utf-8", errors="replace"))
            results.append(written(folder))
        if not results[0] or results[0] != results[1]:
            raise SystemExit(f"{name}: two uninterrupted runs differ")
        self._expected[name] = results[0]

    def _folder(self, name: str) -> Path:
        folder = self.root / name.replace(" ", "_")
        folder.mkdir()
        return folder


def kill_commands(kills: int, seed: int) -> Killer:
    """Kill the commands in turn, so many times in all."""
    prepare()
    root = Path(tempfile.mkdtemp(prefix="qdecomp-kills-"))
    (root / "inputs").mkdir()
    write_inputs(root / "inputs")
    killer = Killer(root, random.Random(seed))
    while killer.kills.total() < kills:
        names = list(COMMANDS)
        killer.kill(min(names, key=lambda name: (killer.kills[name], names.index(name))))
    if not killer.wrong:
        shutil.rmtree(root)
    return killer


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    found = kill_commands(*map(int, (sys.argv[1:] + ["50", "0"][len(sys.argv) - 1 :])))
    shown = ", ".join(f"{name} {count}" for name, count in found.kills.items())
    print(f"{found.kills.total()} kills ({shown}); {found.missed} runs had ended before; {len(found.wrong)} differ")
    print(*found.wrong, sep="\n")
    sys.exit(bool(found.wrong))
