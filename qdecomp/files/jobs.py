"""Long work on rows: here, in processes of this machine, on a Dask cluster or on any executor.

:func:`spread` gives the results of partitions of rows in order; no row stops the others, not even one that kills every
worker that reaches it. :func:`run` also writes a record for each row, resumes what a stopped run has written, and shows
progress. Both give the same wherever the work is done::

    with Where(processes=4).pool() as pool:
        for results in spread(work, in_chunks(rows, 100), pool, died):
            ...
"""

from __future__ import annotations

import multiprocessing
import os
import select
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from qdecomp.data_structures.errors import DataError, missing_extra
from qdecomp.files.outputs import format_record, write_records
from qdecomp.terminal import progress

if TYPE_CHECKING:
    from qdecomp.files.dask import DaskPool

__all__ = ["ALL_CORES", "HERE", "Job", "Where", "in_chunks", "run", "spread"]

Task = TypeVar("Task")
Result = TypeVar("Result")
Work = Callable[[Sequence[Any]], Sequence[Any]]
Record = Mapping[str, Any]

ROW_KILLED_WORKERS = "the worker process died each time it reached this row"
"""The error of a row that no worker survives."""

_ROWS_A_TASK = 100


class PartitionKilledError(Exception):
    """The processes that worked on a partition died, one after another."""


class PoolLostError(Exception):
    """Everything that was in flight is lost, as when a scheduler ends; the pool may come back."""


Pool: TypeAlias = "ProcessPool | DaskPool"
"""Works on partitions in other processes."""


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
            # It says what is not an executor.
            _pool_of(self.executor)

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
        pool: Pool | None = None
        if self.cluster is not None:
            try:
                from qdecomp.files.dask import cluster_pool
            except ImportError:
                raise missing_extra("--cluster", "cluster") from None
            pool = cluster_pool(self.cluster)
        elif self.executor is not None:
            pool = _pool_of(self.executor)
        elif (processes := _usable_processes(self.processes)) > 1:
            pool = ProcessPool(processes)
        try:
            yield pool
        finally:
            if pool is not None:
                pool.close()


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


def spread(
    work: Callable[[Sequence[Task]], Sequence[Result]],
    partitions: Iterable[Sequence[Task]],
    pool: Pool | None,
    died: Callable[[Task], Result],
) -> Iterator[Sequence[Result]]:
    """The results of the partitions in order; the results of single rows, put together, are those of a partition.

    Partitions are taken as others end, so memory does not grow with their number. A lost one is processed again. One
    whose workers die is processed row by row with nothing else in flight, so that no other row is blamed; for a row
    that kills them alone, ``died`` gives the result.
    """
    if pool is None:
        yield from map(work, partitions)
        return
    waiting = iter(partitions)
    rows: deque[Sequence[Task]] = deque()
    # Of the first partitions; all others wait to be submitted.
    handles: deque[Any] = deque()
    while True:
        rows.extend(islice(waiting, max(0, pool.ahead() - len(rows))))
        if not rows:
            return
        try:
            while len(handles) < len(rows):
                handles.append(pool.submit(work, rows[len(handles)]))
            results = pool.result(handles[0])
            handles.popleft()
        except PoolLostError:
            handles.clear()
            pool.recover()
            continue
        except PartitionKilledError:
            pool.wait(handles)
            handles.clear()
            results = [found for row in rows[0] for found in _alone(pool, work, row, died)]
        rows.popleft()
        yield results


def _alone(
    pool: Pool, work: Callable[[Sequence[Task]], Sequence[Result]], row: Task, died: Callable[[Task], Result]
) -> Sequence[Result]:
    while True:
        try:
            handle: Any = pool.submit(work, [row])
            found: Sequence[Result] = pool.result(handle)
            return found
        except PoolLostError:
            pool.recover()
        except PartitionKilledError:
            return [died(row)]


@dataclass(frozen=True)
class Job(Generic[Task]):
    """What is done with the rows of a run; ``work`` must be a function that can be pickled.

    ``key`` is what the record of a row depends on; the record has it in its field ``key``. ``arrange`` cuts rows into
    partitions and puts the results back in the order of the rows; it looks at ``window`` rows at a time.
    """

    title: str
    work: Callable[[Sequence[Task]], Sequence[Record]]
    key: Callable[[Task], str]
    died: Callable[[Task], Record]
    arrange: Callable[[Iterable[Task], Callable[..., Iterator[Sequence[Any]]]], Iterator[Any]] | None = None
    window: int = 1

    def records(self, rows: Iterable[Task], pool: Pool | None) -> Iterator[Record]:
        """The record of each row, in order."""

        def work(partitions: Iterable[Sequence[Task]]) -> Iterator[Sequence[Record]]:
            return spread(self.work, partitions, pool, self.died)

        if self.arrange is not None:
            return self.arrange(rows, work)
        return chain.from_iterable(work(in_chunks(rows, _ROWS_A_TASK)))


def run(
    rows: Sequence[Task],
    job: Job[Task],
    output: str | Path,
    where: Where = HERE,
    *,
    count: Callable[[Record], None],
    overwrite: bool = False,
    part_rows: int | None = None,
) -> int:
    """Write the record of each row, in order, and ``count`` it; returns how many were there before.

    See :func:`~qdecomp.files.outputs.write_records` for ``output``, ``overwrite`` and ``part_rows``.
    """
    with where.pool() as pool:

        def lines(done: int) -> Iterator[bytes]:
            # From the start of the rows that are arranged together, so that every partition is the same as in an
            # uninterrupted run.
            again = done % job.window if done < len(rows) else 0
            records = job.records(islice(rows, done - again, None), pool)
            for record in islice(progress(records, job.title, len(rows) - done + again), again, None):
                count(record)
                yield format_record(record)

        return write_records(
            output, map(job.key, rows), lines, overwrite=overwrite, on_record=count, part_rows=part_rows
        )


# Processes of this machine, which end when the process that started them ends, whatever the reason.

# As long as it takes to prepare the next rows; then idle processes end.
_SECONDS_WITHOUT_WORK = 60
# Three for each process: one is processed, one is ready, one is in transit.
_AHEAD_OF_A_PROCESS = 3


def _usable_processes(processes: int | None) -> int:
    """How many processes to use, one for each core by default; one that may not start others does all the work."""
    if processes == 1 or multiprocessing.current_process().daemon:
        return 1
    from joblib import cpu_count

    return int(processes or cpu_count())


def _pool_of(executor: Any) -> Pool:
    """The pool of a Dask client or of a Python executor."""
    if isinstance(executor, Executor):
        # It does not say how many workers it has.
        return ProcessPool(_usable_processes(None), executor)
    if "distributed" in sys.modules:
        from distributed import Client

        from qdecomp.files.dask import DaskPool

        if isinstance(executor, Client):
            return DaskPool(executor)
    kind = type(executor).__name__
    raise DataError(f"executor must be a Dask client or an executor of concurrent.futures, not {kind}")


class ProcessPool:
    """Processes of this machine, which are replaced when they die, or an executor of somebody else, which then ends.

    If a process dies, all partitions in flight are reported as killed: nobody knows which one did it.
    """

    def __init__(self, processes: int, executor: Executor | None = None) -> None:
        self._processes = processes
        self._is_ours = executor is None
        self._executor = executor or self._started()
        self._flights: set[Future[Sequence[Any]]] = set()

    def submit(self, work: Work, rows: Sequence[Any]) -> Future[Sequence[Any]]:
        """Start work on a partition."""
        # Processes are started here, and inherit the blocked signals: an interrupt from the keyboard goes to all
        # processes of a terminal; only the first one should receive it, and end the others.
        with _without_interrupts():
            try:
                future = self._executor.submit(work, rows)
            except (BrokenExecutor, RuntimeError):  # it broke, or was shut down by another user of it
                if not self._is_ours:
                    raise
                self._executor = self._started()
                future = self._executor.submit(work, rows)
        self._flights.add(future)
        return future

    def result(self, handle: Future[Sequence[Any]]) -> Sequence[Any]:
        """Wait for a partition; raises :class:`PartitionKilledError`, and what the work itself raised."""
        try:
            return handle.result()
        except BrokenExecutor as error:
            if not self._is_ours:
                raise DataError(f"a process of the executor died ({error}); make a new executor") from None
            raise PartitionKilledError(str(error)) from None
        finally:
            self._flights.discard(handle)

    def wait(self, handles: Iterable[Future[Sequence[Any]]]) -> None:
        """Wait until all have ended."""
        wait(handles)

    def ahead(self) -> int:
        """How many partitions to keep in flight."""
        return _AHEAD_OF_A_PROCESS * self._processes

    def recover(self) -> None:
        """Processes are never lost all at once."""

    def close(self) -> None:
        """Give up what has not begun."""
        for future in self._flights:
            future.cancel()

    def _started(self) -> Executor:
        from joblib.externals.loky import get_reusable_executor

        executor: Executor = get_reusable_executor(
            max_workers=self._processes,
            timeout=_SECONDS_WITHOUT_WORK,
            initializer=_end_with,
            initargs=(os.getpid(),),
        )
        return executor


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Hold interrupts back until the end of the block."""
    if not hasattr(signal, "pthread_sigmask"):  # not on this system
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with(parent: int) -> None:
    """In a process of the pool: end as soon as the process that started it is gone, even if it was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_watch, args=(parent,), name="qdecomp-parent-watch", daemon=True).start()


def _watch(parent: int) -> None:
    try:
        gone = os.pidfd_open(parent)
    except (AttributeError, OSError):  # an older system, another one, or the parent is gone
        while os.getppid() == parent:
            time.sleep(1.0)
    else:
        # By now, the number may belong to another process.
        if os.getppid() == parent:
            select.select([gone], [], [])
    os._exit(1)
