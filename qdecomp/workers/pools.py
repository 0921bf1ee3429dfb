"""What can process partitions: a Dask cluster by its address, a Dask client, or a Python executor."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, wait
from contextlib import contextmanager
from functools import partial
from typing import Any

from qdecomp.data_structures.errors import DataError, missing_extra
from qdecomp.terminal import printable
from qdecomp.workers.partitions import Pool, Work, in_order
from qdecomp.workers.processes import Spread

__all__ = ["SECONDS_TO_CONNECT", "ExecutorPool", "on_cluster", "pool_of"]

SECONDS_TO_CONNECT = 10.0
"""How long a scheduler may take to answer."""


class ExecutorPool:
    """An executor such as ``concurrent.futures.ProcessPoolExecutor``."""

    def __init__(self, executor: Executor) -> None:
        from joblib import cpu_count

        self._executor = executor
        # An executor does not say how many workers it has.
        self._ahead: int = 2 * cpu_count()

    def submit(self, work: Work, rows: Sequence[Any]) -> Future[Sequence[Any]]:
        """Start work on a partition."""
        return self._executor.submit(work, rows)

    def result(self, handle: Future[Sequence[Any]]) -> Sequence[Any]:
        """Wait for a partition; an executor that lost a process cannot continue."""
        try:
            return handle.result()
        except BrokenExecutor as error:
            raise DataError(f"a process of the executor died ({error}); make a new executor") from None

    def wait(self, handles: Sequence[Future[Sequence[Any]]]) -> None:
        """Wait until all have ended."""
        wait(handles)

    def ahead(self) -> int:
        """How many partitions to keep in flight."""
        return self._ahead

    def recover(self) -> None:
        """A lost executor does not come back."""
        raise DataError("the executor was shut down")


def pool_of(executor: Any) -> Pool:
    """The pool of a Dask client or of a Python executor."""
    if isinstance(executor, Executor):
        return ExecutorPool(executor)
    if "distributed" in sys.modules:
        from distributed import Client

        from qdecomp.workers.dask_pool import DaskPool

        if isinstance(executor, Client):
            return DaskPool(executor)
    kind = type(executor).__name__
    raise DataError(f"executor must be a Dask client or an executor of concurrent.futures, not {kind}")


@contextmanager
def on_cluster(address: str | None) -> Iterator[Spread | None]:
    """Distribute partitions to the workers of the Dask scheduler at an address; None if there is no address."""
    if address is None:
        yield None
        return
    try:
        from qdecomp.workers.dask_pool import DaskPool, connect
    except ImportError:
        raise missing_extra("--cluster", "cluster") from None
    pool = DaskPool(connect(address, SECONDS_TO_CONNECT), reopen=partial(connect, address), tell=_to_stderr)
    try:
        yield partial(in_order, pool)
    finally:
        pool.close()


def _to_stderr(line: str) -> None:
    print(f"qdecomp: {printable(line)}", file=sys.stderr, flush=True)
