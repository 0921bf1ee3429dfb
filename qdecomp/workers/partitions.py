"""Partitions of rows processed elsewhere: results in order, few in flight, and no row stops the others."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol, TypeVar

__all__ = ["PartitionKilledError", "Pool", "PoolLostError", "in_order"]

Row = TypeVar("Row")
RowResult = TypeVar("RowResult")
Work = Callable[[Sequence[Any]], Sequence[Any]]

# A partition that kills its workers is cut into this many parts, and so is a part that does it again. Every round costs
# as many workers as the pool is ready to lose for a task, so few rounds matter more than few tasks.
_PARTS = 16


class PartitionKilledError(Exception):
    """The processes that worked on a partition died, one after another."""


class PoolLostError(Exception):
    """Everything that was in flight is lost, as when a scheduler ends; the pool may come back."""


class Pool(Protocol):
    """Processes partitions in other processes."""

    def submit(self, work: Work, rows: Sequence[Any]) -> Any:
        """Start work on a partition and return its handle."""

    def result(self, handle: Any) -> Sequence[Any]:
        """Wait for the results of a partition.

        Raises :class:`PartitionKilledError` or :class:`PoolLostError`, and what the work itself raised.
        """

    def wait(self, handles: Sequence[Any]) -> None:
        """Wait until all of these have ended, successfully or not."""

    def ahead(self) -> int:
        """How many partitions to keep in flight."""

    def recover(self) -> None:
        """Wait for a lost pool to come back; raises a :class:`DataError` if it does not."""


@dataclass(slots=True)
class _Flight:
    rows: Sequence[Any]
    handle: Any = None


def in_order(
    pool: Pool,
    work: Callable[[Sequence[Row]], Sequence[RowResult]],
    partitions: Iterable[Sequence[Row]],
    died: Callable[[Row], RowResult],
) -> Iterator[Sequence[RowResult]]:
    """The results of the partitions in order; the results of a partition's parts, put together, are its own.

    Partitions are taken as others end, so memory does not grow with their number. A lost one is processed again. One
    whose workers die is split up and processed part by part with nothing else in flight, so that no other row is
    blamed; for a row that kills them alone, ``died`` gives the result.
    """
    waiting = iter(partitions)
    flights: deque[_Flight] = deque()
    while True:
        flights.extend(_Flight(rows) for rows in islice(waiting, max(0, pool.ahead() - len(flights))))
        if not flights:
            return
        first = flights[0]
        try:
            for flight in flights:
                if flight.handle is None:
                    flight.handle = pool.submit(work, flight.rows)
            results = pool.result(first.handle)
        except PoolLostError:
            pool.recover()
            for flight in flights:
                flight.handle = None
            continue
        except PartitionKilledError:
            pool.wait([flight.handle for flight in flights])
            results = _taken_apart(pool, work, first.rows, died)
        flights.popleft()
        yield results


def _taken_apart(
    pool: Pool,
    work: Callable[[Sequence[Row]], Sequence[RowResult]],
    rows: Sequence[Row],
    died: Callable[[Row], RowResult],
) -> list[RowResult]:
    """The results of a partition whose workers died, one part after another."""
    size = -(-len(rows) // _PARTS) if len(rows) > 1 else 1
    results: list[RowResult] = []
    for start in range(0, len(rows), size):
        part = rows[start : start + size]
        try:
            results.extend(_alone(pool, work, part))
        except PartitionKilledError:
            results.extend([died(part[0])] if len(part) == 1 else _taken_apart(pool, work, part, died))
    return results


def _alone(
    pool: Pool, work: Callable[[Sequence[Row]], Sequence[RowResult]], rows: Sequence[Row]
) -> Sequence[RowResult]:
    while True:
        try:
            found: Sequence[RowResult] = pool.result(pool.submit(work, rows))
            return found
        except PoolLostError:
            pool.recover()
