"""Long work on rows: here, in processes of this machine, on a Dask cluster or on any executor.

:func:`spread` gives the results of partitions of rows in order; no row stops the others, not even one that kills every
worker that reaches it. :func:`run` also writes a record for each row, resumes what a stopped run has written, and shows
progress. Both give the same wherever the work is done::

    with Where(processes=4).pool() as pool:
        for results in spread(work, in_chunks(rows, 100), pool, died):
            ...
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from qdecomp.data_structures.errors import DataError, missing_extra
from qdecomp.files.outputs import format_record, resume_records
from qdecomp.terminal import progress

__all__ = ["ALL_CORES", "HERE", "Job", "Where", "in_chunks", "run", "spread"]

Task = TypeVar("Task")
Result = TypeVar("Result")
Work = Callable[[Sequence[Any]], Sequence[Any]]
Record = Mapping[str, Any]

ROW_KILLED_WORKERS = "the worker process died each time it reached this row"
"""The error of a row that no worker survives."""

# A partition that kills its workers is cut into this many parts, and so is a part that does it again. Every round costs
# as many workers as the pool is ready to lose for a task, so few rounds matter more than few tasks.
_PARTS = 16
_ROWS_A_TASK = 100


class PartitionKilledError(Exception):
    """The processes that worked on a partition died, one after another."""


class PoolLostError(Exception):
    """Everything that was in flight is lost, as when a scheduler ends; the pool may come back."""


class Pool(Protocol):
    """Processes partitions in other processes."""

    blames_bystanders: bool
    """Whether a partition can be reported as killed because of another one that was in flight."""

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

    def close(self) -> None:
        """Give up what is still in flight."""


@dataclass(frozen=True, slots=True)
class Where:
    """Where work is done: in this process, in several of this machine (None: one for each core), or elsewhere.

    ``cluster`` is the address of a Dask scheduler; ``executor`` is a Dask client or an executor of
    :mod:`concurrent.futures`.
    """

    processes: int | None = 1
    cluster: str | None = None
    executor: Any = None

    def __post_init__(self) -> None:
        if self.processes is not None and self.processes < 1:
            raise DataError(f"processes is {self.processes}, but must be 1 or more")
        if (self.processes not in (None, 1)) + (self.cluster is not None) + (self.executor is not None) > 1:
            raise DataError("give either processes or an executor, or a cluster")
        if self.executor is not None:
            from qdecomp.files.processes import pool_of

            # It says what is not an executor.
            pool_of(self.executor)

    @property
    def is_here(self) -> bool:
        """Whether this process does the work itself."""
        return self.processes == 1 and self.cluster is None and self.executor is None

    def for_rows(self, count: int, least: int) -> Where:
        """Here instead of on all cores, if there are fewer rows than this: starting processes takes time, too."""
        return HERE if self == ALL_CORES and count < least else self

    @contextmanager
    def pool(self) -> Iterator[Pool | None]:
        """What does the work, for the length of a block; None is this process."""
        pool = self._open()
        try:
            yield pool
        finally:
            if pool is not None:
                pool.close()

    def _open(self) -> Pool | None:
        if self.cluster is not None:
            try:
                from qdecomp.files.dask import cluster_pool
            except ImportError:
                raise missing_extra("--cluster", "cluster") from None
            return cluster_pool(self.cluster)
        if self.is_here:
            return None
        from qdecomp.files.processes import ProcessPool, pool_of, usable_processes

        if self.executor is not None:
            return pool_of(self.executor)
        processes = usable_processes(self.processes)
        return None if processes == 1 else ProcessPool(processes)


HERE = Where()
ALL_CORES = Where(None)


def in_chunks(rows: Iterable[Task], size: int) -> Iterator[list[Task]]:
    """The rows in lists of one size; the last one has the rest.

    >>> list(in_chunks("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    rest = iter(rows)
    while chunk := list(islice(rest, size)):
        yield chunk


@dataclass(slots=True)
class _Flight:
    rows: Sequence[Any]
    handle: Any = None


def spread(
    work: Callable[[Sequence[Task]], Sequence[Result]],
    partitions: Iterable[Sequence[Task]],
    pool: Pool | None,
    died: Callable[[Task], Result],
) -> Iterator[Sequence[Result]]:
    """The results of the partitions in order; the results of a partition's parts, put together, are its own.

    Partitions are taken as others end, so memory does not grow with their number. A lost one is processed again. One
    whose workers die is processed part by part with nothing else in flight, so that no other row is blamed; for a row
    that kills them alone, ``died`` gives the result.
    """
    if pool is None:
        yield from map(work, partitions)
        return
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
            results = _taken_apart(pool, work, first.rows, died, 1 if pool.blames_bystanders else _PARTS)
        flights.popleft()
        yield results


def _taken_apart(
    pool: Pool,
    work: Callable[[Sequence[Task]], Sequence[Result]],
    rows: Sequence[Task],
    died: Callable[[Task], Result],
    parts: int,
) -> list[Result]:
    """The results of a partition whose workers died, one part after another."""
    size = max(1, -(-len(rows) // parts))
    results: list[Result] = []
    for start in range(0, len(rows), size):
        part = rows[start : start + size]
        try:
            results.extend(_alone(pool, work, part))
        except PartitionKilledError:
            results.extend([died(part[0])] if len(part) == 1 else _taken_apart(pool, work, part, died, _PARTS))
    return results


def _alone(pool: Pool, work: Callable[[Sequence[Task]], Sequence[Result]], rows: Sequence[Task]) -> Sequence[Result]:
    while True:
        try:
            found: Sequence[Result] = pool.result(pool.submit(work, rows))
            return found
        except PoolLostError:
            pool.recover()


@dataclass(frozen=True)
class Job(Generic[Task]):
    """What is done with the rows of a run; ``work`` and ``outcome`` must be functions that can be pickled.

    ``key`` is what the record of a row depends on; the record has it in its field ``key``. ``outcome`` is what is
    counted about a record. ``arrange`` cuts rows into partitions and puts the results back in the order of the rows;
    it looks at ``window`` rows at a time.
    """

    title: str
    work: Callable[[Sequence[Task]], Sequence[Record]]
    key: Callable[[Task], str]
    died: Callable[[Task], Record]
    outcome: Callable[[Record], Any]
    arrange: Callable[[Iterable[Task], Callable[..., Iterator[Sequence[Any]]]], Iterator[Any]] | None = None
    window: int = 1

    def lines(self, rows: Iterable[Task], pool: Pool | None) -> Iterator[tuple[bytes, Any]]:
        """The line and the outcome of each row's record, in order, made where the work is done."""
        work, died = partial(_lines, self.work, self.outcome), lambda row: _line(self.outcome, self.died(row))
        if self.arrange is not None:
            return self.arrange(rows, lambda partitions: spread(work, partitions, pool, died))
        return chain.from_iterable(spread(work, in_chunks(rows, _ROWS_A_TASK), pool, died))


def _lines(
    work: Callable[[Sequence[Any]], Sequence[Record]], outcome: Callable[[Record], Any], rows: Sequence[Any]
) -> list[tuple[bytes, Any]]:
    return [_line(outcome, record) for record in work(rows)]


def _line(outcome: Callable[[Record], Any], record: Record) -> tuple[bytes, Any]:
    return format_record(record), outcome(record)


def run(
    rows: Sequence[Task],
    job: Job[Task],
    output: str | Path,
    where: Where = HERE,
    *,
    count: Callable[[Any], None],
    overwrite: bool = False,
    part_rows: int | None = None,
) -> int:
    """Write the record of each row, in order, and ``count`` the outcome of each; returns how many were there before.

    See :func:`~qdecomp.files.outputs.resume_records` for ``output``, ``overwrite`` and ``part_rows``.
    """

    def count_record(record: Record) -> None:
        count(job.outcome(record))

    with (
        where.pool() as pool,
        resume_records(
            output, map(job.key, rows), overwrite=overwrite, on_record=count_record, part_rows=part_rows
        ) as writer,
    ):
        resumed = writer.done
        # From the start of the rows that are arranged together, so that every partition is the same as in an
        # uninterrupted run.
        again = resumed % job.window if resumed < len(rows) else 0
        lines = job.lines(islice(rows, resumed - again, None), pool)
        for line, outcome in islice(progress(lines, job.title, len(rows) - resumed + again), again, None):
            count(outcome)
            writer.write(line)
    return resumed
