"""Kill commands at random moments, run each again, and compare what they wrote with uninterrupted runs.

All modules are imported once and every run is forked from here, so that the moments fall into the work and not into
imports. The exit code is 1 if an output differs or a second run fails.
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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click

_ROOT = Path(__file__).resolve().parents[1]
# One kill in this many is that of a training run, which takes longest.
_SHARES = {"convert": 6, "parse": 4, "evaluate": 5, "report": 4, "train": 1}
_ROWS = 250
_QUESTIONS = 40
# What depends on time and machine in a training run is left out.
_BEST = "best_"


@dataclass(frozen=True, slots=True)
class Job:
    """A command: its arguments for a folder (the second time, ``again``), and what it wrote there."""

    program: str
    arguments: Callable[[Path, Path, bool], list[str]]
    written: Callable[[Path], Mapping[str, bytes]]


def _files(*names: str) -> Callable[[Path], Mapping[str, bytes]]:
    def read(folder: Path) -> Mapping[str, bytes]:
        return {name: (folder / name).read_bytes() for name in names}

    return read


def _all_files(name: str) -> Callable[[Path], Mapping[str, bytes]]:
    def read(folder: Path) -> Mapping[str, bytes]:
        found = sorted(path for path in (folder / name).rglob("*") if path.is_file())
        return {str(path.relative_to(folder)): path.read_bytes() for path in found}

    return read


def _training(folder: Path) -> Mapping[str, bytes]:
    """The best metrics and the weights."""
    import torch

    metrics = json.loads((folder / "run" / "metrics.json").read_text(encoding="utf-8"))
    best = {name: value for name, value in sorted(metrics.items()) if name.startswith(_BEST)}
    weights = torch.load(folder / "run" / "best.th", map_location="cpu", weights_only=True)
    tensors = {f"weights {name}": tensor.numpy().tobytes() for name, tensor in sorted(weights.items())}
    return {"metrics": json.dumps(best).encode(), **tensors}


def _scored(inputs: Path) -> list[str]:
    return ["--gold", str(inputs / "rows.csv"), "--predictions", str(inputs / "predictions.jsonl")]


def _train_arguments(inputs: Path, folder: Path, again: bool) -> list[str]:
    few = str(inputs / "few.csv")
    overrides = {"train_data_path": few, "validation_data_path": few, "trainer": {"num_epochs": 2}}
    config = str(_ROOT / "training_config" / "demo.jsonnet")
    arguments = ["train", config, "-s", str(folder / "run"), "--overrides", json.dumps(overrides)]
    return [*arguments, "--recover"] if again else arguments


JOBS: Mapping[str, Job] = MappingProxyType(
    {
        "convert": Job(
            "qdecomp",
            lambda inputs, folder, _: [
                *("convert", "--input", str(inputs / "rows.csv"), "--output", str(folder / "graphs.jsonl")),
                *("--processes", "1"),
            ],
            _files("graphs.jsonl"),
        ),
        "parse": Job(
            "qdecomp",
            lambda inputs, folder, _: [
                *("parse", "--input", str(inputs / "questions.txt"), "--output", str(folder / "parsed.jsonl")),
                *("--processes", "1", "--batch-size", "4"),
            ],
            _files("parsed.jsonl"),
        ),
        "evaluate": Job(
            "qdecomp",
            lambda inputs, folder, _: [
                *("evaluate", *_scored(inputs), "--json", str(folder / "scores.json")),
                *("--details", str(folder / "details.jsonl")),
            ],
            _files("scores.json", "details.jsonl"),
        ),
        "report": Job(
            "qdecomp",
            lambda inputs, folder, _: ["report", *_scored(inputs), "--output", str(folder / "report")],
            _all_files("report"),
        ),
        "train": Job("allennlp", _train_arguments, _training),
    }
)


def write_inputs(folder: Path) -> None:
    """Files made from the sample set."""
    with (_ROOT / "data" / "train.csv").open(encoding="utf-8", newline="") as stream:
        header, *rows = csv.reader(stream)
    for name, part in (("rows.csv", rows[:_ROWS]), ("few.csv", rows[:12])):
        with (folder / name).open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream).writerows([header, *part])
    columns = [header.index(name) for name in ("question_id", "question_text", "decomposition")]
    chosen = [[row[column] for column in columns] for row in rows]
    questions = "\n".join(question for _, question, _ in chosen[:_QUESTIONS])
    (folder / "questions.txt").write_text(questions, encoding="utf-8")
    # Predictions that are right, wrong and missing.
    texts = [decomposition if number % 3 else "return cubes" for number, (_, _, decomposition) in enumerate(chosen)]
    records = [
        {"question_id": question_id, "question": question, "decomposition": text if number % 7 else None}
        for number, ((question_id, question, _), text) in enumerate(zip(chosen, texts, strict=True))
    ]
    lines = "".join(json.dumps(record) + "\n" for record in records[:_ROWS])
    (folder / "predictions.jsonl").write_text(lines, encoding="utf-8")


def prepare(names: Sequence[str]) -> None:
    """Import what the commands import."""
    for name in names:
        if JOBS[name].program == "qdecomp":
            import_module(f"qdecomp.cli.{name}")
    for module in (
        "qdecomp.evaluation.outputs",
        "qdecomp.evaluation.report",
        "scipy.stats",
        "qdecomp.cli",
    ):
        import_module(module)
    for module in (
        "ortools.sat.python.cp_model",
        "qdecomp.decoding.graph_program",
        "qdecomp.parsers.bundle",
    ):
        import_module(module)
    if "train" in names:
        sys.argv = ["allennlp"]
        import_module("allennlp.__main__")
        import_module("allennlp.common.plugins").import_plugins()


def start(job: Job, arguments: list[str], log: Path) -> int:
    """Run a command in its own process and process group; returns its id."""
    process = os.fork()
    if process:
        return process
    os.setsid()
    # With the graphs of an earlier run, a command would finish before it can be killed.
    os.environ["QDECOMP_CACHE"] = str(log.parent / "cache")
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(handle, stream)
    os._exit(_run(job, arguments))


def _run(job: Job, arguments: list[str]) -> int:
    code: Any = 0
    try:
        if job.program == "qdecomp":
            from qdecomp.cli import main

            main(arguments)
        else:
            from allennlp.__main__ import run

            sys.argv = ["allennlp", *arguments]
            run()
    except SystemExit as ending:
        code = ending.code
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return code if isinstance(code, int) else int(code is not None)


def wait(process: int) -> int:
    """The exit code of a process; a negative one is that of a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


class KillTest:
    """The uninterrupted runs, and how long they took."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.inputs = folder / "inputs"
        self.inputs.mkdir()
        write_inputs(self.inputs)
        self._chance = random.Random(seed)
        self._expected: dict[str, Mapping[str, bytes]] = {}
        self._seconds: dict[str, float] = {}
        self.number = 0

    def kill(self, name: str) -> tuple[bool, str | None]:
        """Kill a command once: whether it was killed before it finished, and what is wrong after the second run."""
        if name not in self._expected:
            self._learn(name)
        self.number += 1
        folder = self.folder / f"{self.number}_{name}"
        folder.mkdir()
        process = start(JOBS[name], JOBS[name].arguments(self.inputs, folder, False), folder / "log")
        time.sleep(self._chance.uniform(0.0, self._seconds[name]))
        os.killpg(process, signal.SIGKILL) if _has_group(process) else os.kill(process, signal.SIGKILL)
        was_killed = wait(process) == -signal.SIGKILL
        # How long a run takes depends on what else the machine does.
        self._seconds[name] *= 1.05 if was_killed else 0.7
        # A complete report is made again anyway.
        wrong = self._second_run(name, folder) if was_killed else None
        if wrong is None:
            shutil.rmtree(folder)
        return was_killed, wrong

    def _second_run(self, name: str, folder: Path) -> str | None:
        job = JOBS[name]
        code = wait(start(job, job.arguments(self.inputs, folder, True), folder / "log"))
        if code != 0:
            last = (folder / "log").read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
            return f"{name}: the second run ended with code {code}: {''.join(last)}; see {folder}"
        found, expected = job.written(folder), self._expected[name]
        differing = sorted(part for part in found.keys() | expected.keys() if found.get(part) != expected.get(part))
        return f"{name}: other content in {', '.join(differing[:5])}; see {folder}" if differing else None

    def _learn(self, name: str) -> None:
        """Run a command to its end, twice: what differs between runs would look like a loss."""
        job = JOBS[name]
        results = []
        for number in range(2):
            folder = self.folder / f"whole_{name}_{number}"
            folder.mkdir()
            started = time.monotonic()
            code = wait(start(job, job.arguments(self.inputs, folder, False), folder / "log"))
            self._seconds[name] = time.monotonic() - started
            if code != 0:
                raise SystemExit((folder / "log").read_text(encoding="utf-8", errors="replace"))
            results.append(job.written(folder))
        if results[0] != results[1]:
            differing = sorted(part for part in results[0] if results[0][part] != results[1].get(part))
            raise SystemExit(f"{name}: two uninterrupted runs differ in {', '.join(differing[:5])}")
        self._expected[name] = results[0]


def _has_group(process: int) -> bool:
    try:
        return os.getpgid(process) == process
    except ProcessLookupError:
        return False


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("commands", nargs=-1, type=click.Choice(list(JOBS)), metavar=f"[{'|'.join(JOBS)}]...")
@click.option("--kills", type=click.IntRange(min=1), default=20, show_default=True, help="How many of all.")
@click.option("--seed", type=int, default=0, show_default=True, help="For the commands and the moments.")
@click.option(
    "--json", "json_path", type=click.Path(path_type=Path), help="Write the figures to this file, as they come."
)
def main(commands: tuple[str, ...], kills: int, seed: int, json_path: Path | None) -> None:
    """Kill commands at random moments and compare what they finally wrote with uninterrupted runs."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    names = commands or tuple(JOBS)
    prepare(names)
    folder = Path(tempfile.mkdtemp(prefix="qdecomp-kills-"))
    test = KillTest(folder, seed)
    turns = [name for name in names for _ in range(_SHARES[name])]
    random.Random(seed).shuffle(turns)
    counts = dict.fromkeys(names, 0)
    missed, wrong = 0, []
    while sum(counts.values()) < kills:
        name = turns[sum(counts.values()) % len(turns)]
        was_killed, difference = test.kill(name)
        counts[name] += was_killed
        missed += not was_killed
        if difference is not None:
            wrong.append(difference)
            print(difference, file=sys.stderr, flush=True)
        if json_path is not None:
            figures = {"kills": counts, "ended before": missed, "different": wrong}
            json_path.write_text(json.dumps(figures, indent=1), encoding="utf-8")
    shown = ", ".join(f"{name} {count}" for name, count in counts.items())
    print(f"{sum(counts.values())} kills ({shown}); {missed} runs had ended before; {len(wrong)} differ")
    if wrong:
        raise SystemExit(1)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main(prog_name="kill_test.py")
