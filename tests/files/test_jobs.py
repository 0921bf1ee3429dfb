from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.files.jobs import PartitionKilledError, PoolLostError, Where, in_chunks, spread


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
