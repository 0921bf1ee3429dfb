from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.files.jobs import PartitionKilledError, PoolLostError, Where, in_chunks, spread


class FakePool:
    """Works only when results are requested; rows in ``poison`` kill it, and it is lost before some calls."""

    blames_bystanders = False

    def __init__(self, poison: Sequence[int] = (), lost_at: Sequence[int] = (), returns: bool = True) -> None:
        self.poison = set(poison)
        self.lost_at = set(lost_at)
        self.returns = returns
        self.calls = 0
        self.in_flight: list[Any] = []
        self.most_in_flight = 0
        self.deaths = 0

    def submit(self, work: Any, rows: Sequence[int]) -> Any:
        handle = (work, tuple(rows))
        self.in_flight.append(handle)
        self.most_in_flight = max(self.most_in_flight, len(self.in_flight))
        return handle

    def result(self, handle: Any) -> Sequence[int]:
        self.calls += 1
        if self.calls in self.lost_at:
            self.in_flight.clear()
            raise PoolLostError
        if handle not in self.in_flight:
            raise PoolLostError
        work, rows = handle
        if self.poison & set(rows):
            self.deaths += 1
            self.in_flight.remove(handle)
            raise PartitionKilledError
        self.in_flight.remove(handle)
        found: Sequence[int] = work(rows)
        return found

    def wait(self, handles: Sequence[Any]) -> None:
        pass

    def ahead(self) -> int:
        return 3

    def recover(self) -> None:
        if not self.returns:
            raise DataError("gone")

    def close(self) -> None:
        pass


def double(rows: Sequence[int]) -> list[int]:
    return [2 * row for row in rows]


def doubled(pool: FakePool, count: int, size: int = 10) -> list[int]:
    return [each for part in spread(double, in_chunks(range(count), size), pool, lambda row: -row) for each in part]


def test_results_come_in_order_with_few_in_flight() -> None:
    pool = FakePool()
    taken = 0

    def partitions() -> Iterator[list[int]]:
        nonlocal taken
        for start in range(0, 1000, 10):
            taken += 1
            yield list(range(start, start + 10))

    results = spread(double, partitions(), pool, lambda row: -row)
    assert next(results) == list(range(0, 20, 2))
    assert taken == 3
    assert [each for part in results for each in part] == list(range(20, 2000, 2))
    assert pool.most_in_flight == 3


def test_a_poisoned_row_is_the_only_one_that_is_blamed() -> None:
    pool = FakePool(poison=[57])
    assert doubled(pool, 100) == [-57 if row == 57 else 2 * row for row in range(100)]


def test_two_poisoned_rows_in_a_large_partition_cost_few_workers() -> None:
    pool = FakePool(poison=[3, 250])
    assert doubled(pool, 256, 256) == [-row if row in (3, 250) else 2 * row for row in range(256)]
    # The whole, then for each row the part of 16 and the row itself.
    assert pool.deaths == 5


def test_a_lost_pool_loses_nothing_and_does_nothing_twice() -> None:
    pool = FakePool(poison=[42], lost_at=[1, 4, 8])
    assert doubled(pool, 80) == [-42 if row == 42 else 2 * row for row in range(80)]


def test_a_pool_that_stays_away_ends_the_work() -> None:
    with pytest.raises(DataError, match="gone"):
        doubled(FakePool(lost_at=[2], returns=False), 80)


def test_here_every_partition_is_done_in_its_turn() -> None:
    with Where().pool() as pool:
        assert pool is None
        assert [*spread(double, in_chunks(range(5), 2), pool, lambda row: -row)] == [[0, 2], [4, 6], [8]]


def test_there_is_one_place_to_work() -> None:
    with pytest.raises(DataError, match="give either processes or an executor"):
        Where(2, cluster="tcp://127.0.0.1:1")
    with pytest.raises(DataError, match="processes is 0"):
        Where(0)
    assert Where(None).for_rows(10, 11).is_here
    assert Where(None).for_rows(11, 11) == Where(None)
    assert Where(2).for_rows(10, 11) == Where(2)
