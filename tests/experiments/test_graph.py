"""The graph of jobs itself: a run that is killed twice ends with the same tables as one that is not."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from experiments.settings import read_size
from experiments.verdicts import add_verdicts

pytest.importorskip("snakemake", reason="Snakemake is not installed; make install installs it")

EXPERIMENT = "sample_complexity"


@pytest.fixture
def size(size_file: Callable[..., Path]) -> Path:
    """One parser, one training run."""
    parser = {
        "config": "training_config/biaffine_graph_parser_minilm.jsonnet",
        "updates": 5,
        "batch_size": 8,
        "overrides": {"settings.edge_dim": 24, "settings.label_dim": 12},
    }
    return size_file(parsers={"biaffine": parser}, percentages=[100], seeds=[7], queue=["biaffine/*"])


def start(project_root: Path, size: Path, out: Path, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "experiments", EXPERIMENT, "--size", str(size), "--out", str(out), *options]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.Popen(command, cwd=project_root, text=True, start_new_session=True, **streams)  # type: ignore[call-overload]


def kill_when(process: subprocess.Popen[str], moment: Path) -> None:
    """Kill all processes of a run as soon as there is a file."""
    while not moment.exists():
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def finish(process: subprocess.Popen[str]) -> str:
    output = process.communicate()[0]
    assert process.returncode == 0, output
    return output


def written(out: Path) -> dict[str, list[bytes]]:
    """What a run gives, without the minutes that it took."""
    tables = {path: path.read_bytes().splitlines() for path in (out / "tables").glob("*.csv")}
    found = {path: [line for line in lines if not line.startswith(b"Minutes")] for path, lines in tables.items()}
    others = [*(out / "figures").glob("*.svg"), *(out / "predictions").rglob("*.jsonl")]
    return {str(path.relative_to(out)): found.get(path) or [path.read_bytes()] for path in (*found, *others)}


def test_a_run_that_is_killed_twice_gives_the_same(
    project_root: Path, size: Path, tmp_path: Path, stopped_before: Callable[[str], AbstractContextManager[None]]
) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    file = tmp_path / "verdicts.jsonl"
    file.touch()
    finish(start(project_root, size, whole, "--queue", "--verdicts", str(file)))
    kept = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert [(each["system"], each["split"], each["seed"]) for each in kept] == [
        (system, "train_100", 7) for system in ("biaffine", "biaffine_ilp", "biaffine_strict")
    ]
    assert all(each["minutes"] is not None for each in kept)
    cell = killed / "runs" / "biaffine" / "train_100" / "seed_7"
    # In the middle of the training, and while predictions are made.
    with stopped_before("_state_e2_b0.th"):
        process = start(project_root, size, killed)
    kill_when(process, cell / "run" / "model_state_e1_b0.th")
    assert not (cell / "trained.json").exists()
    with stopped_before("seed_7.jsonl"):
        process = start(project_root, size, killed)
    kill_when(process, killed / "predictions" / "biaffine" / "train_100" / "seed_7.log")
    trained = (cell / "trained.json").stat().st_mtime_ns
    output = finish(start(project_root, size, killed))
    assert "training biaffine" not in output
    assert (cell / "trained.json").stat().st_mtime_ns == trained
    found = written(killed)
    assert found == written(whole)
    assert f"tables/{EXPERIMENT}.csv" in found
    assert {path.name for path in (killed / "tables").iterdir()} == {path.name for path in (whole / "tables").iterdir()}
    assert "predictions/biaffine_ilp/train_100/seed_7.jsonl" in found
    # Nothing is left to do, and the lock of a killed run blocks nothing.
    assert "Nothing to be done" in finish(start(project_root, size, killed))


def test_cells_that_are_not_asked_for_are_not_run(project_root: Path, size: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    finish(start(project_root, size, out, "--no-training"))
    assert "| BiaffineGP | not run |" in (out / "tables" / f"{EXPERIMENT}.md").read_text(encoding="utf-8")
    assert not (out / "runs").exists()
    assert (out / "figures" / f"{EXPERIMENT}.png").is_file()


def test_cells_with_verdicts_are_not_trained(
    project_root: Path, size: Path, predict: Callable[..., Path], tmp_path: Path
) -> None:
    file, run, settings = tmp_path / "verdicts.jsonl", tmp_path / "run", read_size(str(size))
    for system in ("biaffine", "biaffine_strict", "biaffine_ilp"):
        predict(f"{system}/train_100/7", lambda number, _: True, base=run, settings=settings)
    add_verdicts(file, settings, run)
    out = tmp_path / "out"
    finish(start(project_root, size, out, "--verdicts", str(file)))
    assert "| BiaffineGP | 1.000 " in (out / "tables" / f"{EXPERIMENT}.md").read_text(encoding="utf-8")
    assert not (out / "runs").exists()


def test_two_runs_in_one_folder_are_refused(project_root: Path, size: Path, tmp_path: Path) -> None:
    import fcntl

    out = tmp_path / "out"
    out.mkdir()
    with (out / "lock").open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        process = start(project_root, size, out)
        output = process.communicate()[0]
    assert process.returncode == 2
    assert "another run is at work in this folder" in output
