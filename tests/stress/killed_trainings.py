"""Kill a small training at random moments, recover it until it is done or killed again, and compare with a whole one.

Run in the project's root: ``python -m tests.stress.killed_trainings FOLDER [KILLS [SEED]]``. AllenNLP is imported once,
and every run is forked from here, so that the moments fall into the training and not into imports. The table says what
each kill left behind, and what the next run did; the exit code is 1 if any recovery failed or ended otherwise than the
training that was not killed.
"""

from __future__ import annotations

import csv
import json
import os
import random
import re
import shutil
import signal
import sys
import tarfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.training.forked_allennlp import allennlp, in_new_process, new_process, prepare

_ROOT = Path(__file__).resolve().parents[2]
_STARTS_ANEW = "training starts from the beginning"


def write_inputs(folder: Path) -> list[str]:
    """A few rows of the sample set, a tiny encoder, and the arguments that train the demo's parser with them."""
    from experiments.training import make_tiny_encoder

    with (_ROOT / "data" / "train.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream))[:17]
    with (folder / "rows.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows(rows)
    (folder / "encoder").mkdir()
    # In another process: what torch has computed with threads, it cannot go on with after a fork.
    if in_new_process(folder / "encoder.log", lambda: make_tiny_encoder(folder / "encoder", _ROOT / "data/train.csv")):
        raise SystemExit((folder / "encoder.log").read_text(encoding="utf-8"))
    overrides = {
        "settings.encoder": str(folder / "encoder"),
        "settings.batch_size": 4,
        "train_data_path": str(folder / "rows.csv"),
        "validation_data_path": str(folder / "rows.csv"),
        # The whole trainer, which names no checkpointer: the durable one must be there all the same.
        "trainer": {"num_epochs": 8, "validation_metric": "+edge_f1", "optimizer": {"type": "fused_adam", "lr": 1e-3}},
    }
    return ["train", str(_ROOT / "training_config" / "demo.jsonnet"), "--overrides", json.dumps(overrides)]


def what_is_left(folder: Path) -> tuple[str, int | None]:
    """What a kill left in a folder, and the epochs of the newest checkpoint of which both files can be read."""
    import torch

    whole = []
    for path in folder.glob("training_state_e*_b0.th"):
        try:
            for part in (path, path.with_name(path.name.replace("training", "model"))):
                torch.load(part, map_location="cpu", weights_only=True)
        except Exception:  # whatever makes it unreadable
            continue
        whole.append(int(re.findall(r"\d+", path.name)[0]))
    newest = max(whole, default=None)
    if (folder / "model.tar.gz").exists():
        return "archiving", newest
    if list(folder.glob(".*.tmp")) or len(list(folder.glob("model_state_*.th"))) > len(whole):
        return "writing a checkpoint", newest
    if not (folder / "config.json").exists():
        return "nothing written", newest
    return ("before the first checkpoint" if newest is None else "between checkpoints"), newest


def result_of(folder: Path) -> Any:
    """The best metrics, and the weights in the archive; not what depends on time and machine."""
    import torch

    metrics = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    with tarfile.open(folder / "model.tar.gz") as archive:
        stream = archive.extractfile("weights.th")
        assert stream is not None
        weights = torch.load(stream, weights_only=True)
    best = {name: value for name, value in metrics.items() if name.startswith("best_")}
    return best, {name: tensor.tolist() for name, tensor in weights.items()}


@dataclass
class Killer:
    """Trainings in one folder with the same arguments, and what became of those that were killed."""

    root: Path
    arguments: list[str]
    chance: random.Random
    seconds: float = 0.0
    rows: Counter[tuple[str, str]] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def train(self, folder: Path, number: int, *, kill: bool) -> int:
        """Start or, from the second time on, recover a training, and perhaps kill it; its exit code."""
        log = folder.with_name(f"{folder.name}_{number}.log")
        log.touch()
        more = ["--recover"] if number else []

        def work() -> None:
            os.environ["QDECOMP_CACHE"] = str(self.root / "cache")
            allennlp(*self.arguments, "-s", str(folder), *more)

        process = new_process(log, work)
        if kill:
            time.sleep(self.chance.uniform(0.0, self.seconds))
            os.kill(process, signal.SIGKILL)
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])

    def learn(self) -> Any:
        """The result of a training that nobody kills; its time says which moments there are."""
        started = time.monotonic()
        if self.train(self.root / "whole", 0, kill=False) != 0:
            raise SystemExit((self.root / "whole_0.log").read_text(encoding="utf-8"))
        self.seconds = time.monotonic() - started
        return result_of(self.root / "whole")

    def until_done(self, name: str, expected: Any, kills: int) -> int:
        """Train with at most so many kills until the training is done; how many there were."""
        folder = self.root / name
        wrong_before = len(self.wrong)
        number, code = 0, 0
        left, newest = "", None
        while True:
            is_last = number >= kills or (number > 0 and self.chance.random() < 0.4)
            started = time.time()
            code = self.train(folder, number, kill=not is_last)
            if number:
                self.rows[left, self._what_it_did(folder, number, newest, code, started)] += 1
            if code != -signal.SIGKILL:
                break
            number += 1
            # How long a run takes depends on what else the machine does.
            self.seconds *= 1.02
            left, newest = what_is_left(folder)
        if not is_last:
            self.seconds *= 0.8
        if code == 0 and result_of(folder) != expected:
            self.wrong.append(f"{name}: another result")
        if len(self.wrong) == wrong_before:
            for path in self.root.glob(f"{name}*"):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        return number

    def _what_it_did(self, folder: Path, number: int, newest: int | None, code: int, started: float) -> str:
        """Whether a run went on from the newest whole checkpoint or started from the beginning and said so."""
        log = folder.with_name(f"{folder.name}_{number}.log").read_text(encoding="utf-8", errors="replace")
        trained = [
            int(re.findall(r"\d+", path.name)[0])
            for path in folder.glob("metrics_epoch_*.json")
            if path.stat().st_mtime >= started
        ]
        if code not in (0, -signal.SIGKILL):
            self.wrong.append(f"{folder.name}: run {number} ended with code {code}")
            return "failed"
        if not trained and code != 0:
            return "killed again within its first epoch"
        if newest is None and min(trained) == 0 and _STARTS_ANEW in log:
            return "started anew and said so"
        # With all epochs done, only what comes after them is done again.
        if newest == min(trained, default=newest) and _STARTS_ANEW not in log:
            return "went on from the newest checkpoint"
        self.wrong.append(
            f"{folder.name}: run {number} did not go on from {newest} but from {min(trained, default=None)}"
        )
        return "did something else"


def main(folder: str, kills: str = "100", seed: str = "1") -> None:
    root = Path(folder).resolve()
    root.mkdir(parents=True)
    os.chdir(_ROOT)
    prepare()
    killer = Killer(root, write_inputs(root), random.Random(int(seed)))
    expected = killer.learn()
    print(f"a whole training takes {killer.seconds:.1f} s", flush=True)
    count = chains = 0
    while count < int(kills):
        count += killer.until_done(f"killed_{chains}", expected, int(kills) - count)
        chains += 1
        print(f"{count} kills of {chains} trainings, {len(killer.wrong)} wrong", flush=True)
    for (left, did), times in sorted(killer.rows.items()):
        print(f"| {left} | {did} | {times} |")
    for line in killer.wrong:
        print(line)
    if killer.wrong:
        raise SystemExit(1)
    shutil.rmtree(root)


if __name__ == "__main__":
    main(*sys.argv[1:])
