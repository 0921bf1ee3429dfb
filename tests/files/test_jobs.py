"""Rows in partitions: no row is lost when helper processes die, and these end with the process that started them."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.files.jobs import PartitionKilledError, PoolLostError, Where, in_chunks, spread
from tests.files import worker_tasks


class FakePool:
    """Works when results are requested; rows in ``poison`` kill it, and before the calls ``lost_at`` it is lost."""

    def __init__(self, poison: Sequence[int] = (), lost_at: Sequence[int] = ()) -> None:
        self.poison, self.lost_at = set(poison), lost_at
        self.calls = self.deaths = 0
        self.in_flight: list[Any] = []

    def submit(self, work: Any, rows: Sequence[int]) -> Any:
        self.in_flight.append((work, tuple(rows)))
        return self.in_flight[-1]

    def result(self, handle: Any) -> Sequence[int]:
        self.calls += 1
        if self.calls in self.lost_at:
            self.in_flight.clear()
            raise PoolLostError
        self.in_flight.remove(handle)
        work, rows = handle
        if self.poison & set(rows):
            self.deaths += 1
            raise PartitionKilledError
        return work(rows)

    def ahead(self) -> int:
        return 3

    def wait(self, *handles: Any) -> None:
        pass

    recover = close = wait


def double(rows: Sequence[int]) -> list[int]:
    return [2 * row for row in rows]


def doubled(pool: FakePool, rows: Iterable[int], size: int = 10) -> Iterator[int]:
    return chain.from_iterable(spread(double, in_chunks(rows, size), pool, lambda row: -row))


def test_results_come_in_order_and_few_rows_are_taken_ahead() -> None:
    rows = iter(range(1000))
    results = doubled(FakePool(), rows)
    assert next(results) == 0
    assert next(rows) == 30
    assert list(results) == [2 * row for row in range(1, 1000) if row != 30]


def test_two_poisoned_rows_in_a_large_partition_cost_few_workers() -> None:
    pool = FakePool(poison=[3, 250])
    assert list(doubled(pool, range(256), 256)) == [-row if row in (3, 250) else 2 * row for row in range(256)]
    # The whole, and then each of the two alone.
    assert pool.deaths == 3


def test_a_lost_pool_loses_nothing_and_does_nothing_twice() -> None:
    pool = FakePool(poison=[42], lost_at=[1, 4, 8])
    assert list(doubled(pool, range(80))) == [-42 if row == 42 else 2 * row for row in range(80)]


def test_there_is_one_place_to_work() -> None:
    with pytest.raises(DataError, match="give either processes or an executor"):
        Where(2, cluster="tcp://127.0.0.1:1")
    with pytest.raises(DataError, match="processes is 0"):
        Where(0)
    assert Where(None).for_rows(10, 11).is_here
    assert Where(None).for_rows(11, 11) == Where(None)
    assert Where(2).for_rows(10, 11) == Where(2)


# Real processes.

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
