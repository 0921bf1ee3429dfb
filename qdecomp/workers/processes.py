"""Work in several processes, which end when the process that started them ends, whatever the reason."""

from __future__ import annotations

import multiprocessing
import os
import select
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from typing import Any, Protocol, TypeVar

__all__ = ["ROW_KILLED_WORKERS", "Spread", "in_chunks", "in_processes", "rows_in_processes"]

Task = TypeVar("Task")
Result = TypeVar("Result")

ROW_KILLED_WORKERS = "the worker process died each time it reached this row"
"""The error of a row that no worker survives."""

_SECONDS_BETWEEN_LOOKS = 1.0
# A task costs the first process about a millisecond, so it has many rows, but each process has several tasks.
_MOST_ROWS_A_TASK = 200
_TASKS_A_PROCESS = 8
# For fewer rows than this, starting other processes takes longer than the work.
_ROWS_FOR_PROCESSES = 400


def in_chunks(rows: Iterable[Task], size: int) -> Iterator[list[Task]]:
    """The rows in lists of one size; the last one has the rest.

    >>> list(in_chunks("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    rest = iter(rows)
    while chunk := list(islice(rest, size)):
        yield chunk


class Spread(Protocol):
    """Distributes partitions of rows to workers on other machines."""

    def __call__(
        self,
        work: Callable[[Sequence[Any]], Sequence[Any]],
        partitions: Iterable[Sequence[Any]],
        died: Callable[[Any], Any],
    ) -> Iterator[Sequence[Any]]:
        """The results in the order of the partitions; ``died`` is the result of a row that no worker survives."""


def in_processes(
    function: Callable[[Task], Result], tasks: Iterable[Task], processes: int, ahead: int = 2
) -> Iterator[Result]:
    """The results in the order of the tasks, of which a number for each process are taken in advance.

    An interrupt from the keyboard goes to all processes of a terminal; only the first one should receive it, and end
    the others.
    """
    from joblib import Parallel, delayed

    parallel = Parallel(
        n_jobs=processes,
        return_as="generator",
        batch_size=1,
        pre_dispatch=f"{ahead} * n_jobs",
        backend="loky",
        initializer=_end_with,
        initargs=(os.getpid(),),
    )
    # The processes are started here, and inherit the blocked signals.
    with _without_interrupts():
        results: Iterator[Result] = parallel(delayed(function)(task) for task in tasks)
    return results


def rows_in_processes(
    work: Callable[[Sequence[Task]], Iterable[Result]], rows: Iterable[Task], count: int, processes: int | None = None
) -> Iterator[Result]:
    """The results of all rows in order; ``work`` is given some rows at a time.

    ``processes`` is how many cores to use, all by default. A few rows are done in this process, and so is everything
    in a process that may not start others.
    """
    from joblib import cpu_count

    workers = 1 if multiprocessing.current_process().daemon else max(1, processes or cpu_count())
    tasks = in_chunks(rows, min(_MOST_ROWS_A_TASK, max(1, count // (_TASKS_A_PROCESS * workers))))
    if workers == 1 or count < _ROWS_FOR_PROCESSES:
        return chain.from_iterable(map(work, tasks))
    return chain.from_iterable(in_processes(work, tasks, workers, ahead=3))


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
