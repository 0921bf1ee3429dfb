"""Helper processes cost no row when they die, and end with the process that started them."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.files.jobs import Where, in_chunks, spread
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

with Where(2).pool() as pool:
    for (pid,) in spread(work, [[number] for number in range(8)], pool, repr):
        print(pid, flush=True)
"""


def test_a_process_that_is_killed_costs_no_row_but_the_one_that_kills_it_each_time(tmp_path: Path) -> None:
    rows = [f"row {number}" for number in range(40)]
    rows.insert(17, worker_tasks.POISON)
    work = partial(worker_tasks.shout_after_one_death, tmp_path / "died")
    with Where(2).pool() as pool:
        results = spread(work, in_chunks(rows, 8), pool, lambda row: f"died: {row}")
        found = [each for part in results for each in part]
    assert found == [f"died: {row}" if row == worker_tasks.POISON else row.upper() for row in rows]
    assert (tmp_path / "died").exists()


def test_an_executor_of_others_is_not_replaced() -> None:
    with ProcessPoolExecutor(1) as executor, Where(executor=executor).pool() as pool:
        results = spread(worker_tasks.shout, [["a"], [worker_tasks.POISON]], pool, repr)
        assert next(results) == ["A"]
        with pytest.raises(DataError, match=r"a process of the executor died .*; make a new executor"):
            next(results)


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="this system has no handles of processes")
def test_helpers_end_when_their_parent_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        helpers = {os.pidfd_open(pid) for pid in {int(run.stdout.readline()) for _ in range(4)}}
        os.kill(run.pid, signal.SIGKILL)
        run.wait()
        while helpers:
            ended, _, _ = select.select(list(helpers), [], [], 60.0)
            assert ended
            helpers -= set(ended)
