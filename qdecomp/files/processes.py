"""Work in processes of this machine, which end when the process that started them ends, whatever the reason."""

from __future__ import annotations

import multiprocessing
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, wait
from contextlib import contextmanager
from typing import Any

from qdecomp.data_structures.errors import DataError
from qdecomp.files.jobs import PartitionKilledError, Pool, Work

_SECONDS_BETWEEN_LOOKS = 1.0
# As long as it takes to prepare the next rows; then idle processes end.
_SECONDS_WITHOUT_WORK = 60
# Three for each process: one is processed, one is ready, one is in transit.
_AHEAD_OF_A_PROCESS = 3


def usable_processes(processes: int | None) -> int:
    """How many processes to use, one for each core by default; one that may not start others does all the work."""
    from joblib import cpu_count

    return 1 if multiprocessing.current_process().daemon else int(processes or cpu_count())


def pool_of(executor: Any) -> Pool:
    """The pool of a Dask client or of a Python executor."""
    if isinstance(executor, Executor):
        return ExecutorPool(executor)
    if "distributed" in sys.modules:
        from distributed import Client

        from qdecomp.files.dask import DaskPool

        if isinstance(executor, Client):
            return DaskPool(executor)
    kind = type(executor).__name__
    raise DataError(f"executor must be a Dask client or an executor of concurrent.futures, not {kind}")


class ExecutorPool:
    """An executor such as ``concurrent.futures.ProcessPoolExecutor``; if one of its processes dies, it ends."""

    blames_bystanders = True

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        # An executor does not say how many workers it has.
        self._ahead = 2 * usable_processes(None)
        self._flights: set[Future[Sequence[Any]]] = set()

    def submit(self, work: Work, rows: Sequence[Any]) -> Future[Sequence[Any]]:
        """Start work on a partition."""
        future = self._executor.submit(work, rows)
        self._flights.add(future)
        return future

    def result(self, handle: Future[Sequence[Any]]) -> Sequence[Any]:
        """Wait for a partition."""
        try:
            return handle.result()
        except BrokenExecutor as error:
            self._lose(error)
            raise PartitionKilledError(str(error)) from None
        finally:
            self._flights.discard(handle)

    def wait(self, handles: Sequence[Future[Sequence[Any]]]) -> None:
        """Wait until all have ended."""
        wait(handles)

    def ahead(self) -> int:
        """How many partitions to keep in flight."""
        return self._ahead

    def recover(self) -> None:
        """A lost executor does not come back."""
        raise DataError("the executor was shut down")

    def close(self) -> None:
        """Give up what has not begun."""
        for future in self._flights:
            future.cancel()

    def _lose(self, error: BrokenExecutor) -> None:
        raise DataError(f"a process of the executor died ({error}); make a new executor") from None


class ProcessPool(ExecutorPool):
    """Processes of this machine; those that die are replaced.

    If a process dies, all partitions in flight are reported as killed: nobody knows which one did it.
    """

    def __init__(self, processes: int) -> None:
        self._processes = processes
        super().__init__(self._started())
        self._ahead = _AHEAD_OF_A_PROCESS * processes

    def submit(self, work: Work, rows: Sequence[Any]) -> Future[Sequence[Any]]:
        """Start work on a partition."""
        # Processes are started here, and inherit the blocked signals: an interrupt from the keyboard goes to all
        # processes of a terminal; only the first one should receive it, and end the others.
        with _without_interrupts():
            try:
                return super().submit(work, rows)
            except (BrokenExecutor, RuntimeError):  # it broke, or was shut down by another user of it
                self._executor = self._started()
                return super().submit(work, rows)

    def _started(self) -> Executor:
        from joblib.externals.loky import get_reusable_executor

        executor: Executor = get_reusable_executor(
            max_workers=self._processes,
            timeout=_SECONDS_WITHOUT_WORK,
            initializer=_end_with,
            initargs=(os.getpid(),),
        )
        return executor

    def _lose(self, error: BrokenExecutor) -> None:
        """The next partition starts new processes."""


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
            time.sleep(_SECONDS_BETWEEN_LOOKS)
    else:
        # By now, the number may belong to another process.
        if os.getppid() == parent:
            select.select([gone], [], [])
    os._exit(1)
