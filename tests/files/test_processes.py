"""Helper processes end with the one that started them, and only that one receives an interrupt."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.files.jobs import Where, in_chunks, spread
from tests.cli_runs import run_qdecomp
from tests.files import worker_tasks

# Three tasks say which processes work; the others do not end on their own.
PROGRAM = """
import os, sys, time
from qdecomp.files.jobs import Where, spread

def work(numbers):
    if numbers[0] > 3:
        time.sleep(3600)
    time.sleep(0.2)
    return [os.getpid()]

try:
    with Where(2).pool() as pool:
        for (pid,) in spread(work, [[number] for number in range(8)], pool, repr):
            print(pid, flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    os._exit(0)
"""


ROWS = [f"row {number}" for number in range(40)]


def shouted(work: Any, rows: list[str], size: int = 4) -> list[str]:
    """The results of the work in two processes."""
    with Where(2).pool() as pool:
        results = spread(work, in_chunks(rows, size), pool, lambda row: f"died: {row}")
        return [each for part in results for each in part]


def test_results_come_in_order() -> None:
    assert shouted(worker_tasks.shout, ROWS) == [row.upper() for row in ROWS]


def test_a_process_that_is_killed_costs_no_row(tmp_path: Path) -> None:
    work = partial(worker_tasks.shout_after_one_death, tmp_path / "died")
    assert shouted(work, ROWS) == [row.upper() for row in ROWS]
    assert (tmp_path / "died").exists()


def test_a_row_that_kills_its_process_is_the_only_one_that_is_blamed() -> None:
    rows = [*ROWS[:17], worker_tasks.POISON, *ROWS[17:]]
    expected = [f"died: {row}" if row == worker_tasks.POISON else row.upper() for row in rows]
    assert shouted(worker_tasks.shout, rows, 8) == expected


def test_an_executor_of_others_is_not_replaced() -> None:
    with ProcessPoolExecutor(1) as executor, Where(executor=executor).pool() as pool:
        results = spread(worker_tasks.shout, [["a"], [worker_tasks.POISON]], pool, repr)
        assert next(results) == ["A"]
        with pytest.raises(DataError, match=r"a process of the executor died .*; make a new executor"):
            next(results)


@pytest.mark.parametrize("command", ["convert", "evaluate", "parse"])
def test_a_command_survives_the_kill_of_a_process(project_root: Path, tmp_path: Path, command: str) -> None:
    gold, output, died = project_root / "data" / "train.csv", tmp_path / "out.jsonl", tmp_path / "died"
    arguments = {
        "convert": ["convert", "--input", gold, "--output", output],
        "evaluate": ["evaluate", "--gold", gold, gold, "--metrics", "em", "--details", output],
        "parse": ["parse", "--input", project_root / "data" / "questions.txt", "--output", output, "--batch-size", 2],
    }[command]
    told = subprocess.run(
        [sys.executable, "-m", "tests.files.killed_process", str(died), *map(str, arguments), "--processes", "2"],
        cwd=project_root,
        env={**os.environ, "QDECOMP_CACHE": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert told.returncode == 0, told.stderr
    assert died.exists()
    assert "Traceback" not in told.stderr
    whole = tmp_path / "whole.jsonl"
    assert run_qdecomp(*[whole if each == output else each for each in arguments], "--processes", 1) == 0
    assert output.read_bytes() == whole.read_bytes()


@pytest.fixture
def working(tmp_path: Path) -> tuple[subprocess.Popen[str], list[int]]:
    """A process whose helpers are at work, and a handle of each helper."""
    run = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdout=subprocess.PIPE,
        stderr=(tmp_path / "errors").open("w"),
        text=True,
        start_new_session=True,
    )
    assert run.stdout is not None
    pids = {int(run.stdout.readline()) for _ in range(4)}
    return run, [os.pidfd_open(pid) for pid in pids]


def wait_for_all(handles: list[int]) -> bool:
    left = set(handles)
    while left:
        ended, _, _ = select.select(list(left), [], [], 60.0)
        if not ended:
            return False
        left -= set(ended)
    return True


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="this system has no handles of processes")
def test_helpers_end_when_their_parent_is_killed(working: tuple[subprocess.Popen[str], list[int]]) -> None:
    run, helpers = working
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    assert wait_for_all(helpers)


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="this system has no handles of processes")
def test_an_interrupt_is_heard_by_the_first_process_alone(
    working: tuple[subprocess.Popen[str], list[int]], tmp_path: Path
) -> None:
    run, helpers = working
    os.killpg(run.pid, signal.SIGINT)
    assert run.stdout is not None
    assert "interrupted" in run.stdout.read()
    assert wait_for_all(helpers)
    assert "Traceback" not in (tmp_path / "errors").read_text(encoding="utf-8")
