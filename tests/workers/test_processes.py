"""Helper processes end with the one that started them, and only that one receives an interrupt."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from qdecomp.workers.processes import in_processes

# Three tasks say which processes work; the others do not end on their own.
PROGRAM = """
import os, sys, time
from qdecomp.workers.processes import in_processes

def work(number):
    if number > 3:
        time.sleep(3600)
    time.sleep(0.2)
    return os.getpid()

try:
    for pid in in_processes(work, range(8), 2):
        print(pid, flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    os._exit(0)
"""


def square(number: int) -> int:
    return number * number


def test_results_come_in_order() -> None:
    assert list(in_processes(square, range(20), 2)) == [number * number for number in range(20)]


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
