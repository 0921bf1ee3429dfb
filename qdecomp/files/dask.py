"""Partitions on a Dask cluster. Importing this module needs the extra ``cluster``."""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from distributed import Client, Future, KilledWorker
from distributed.client import ClosedClientError

from qdecomp.data_structures.errors import DataError
from qdecomp.files.jobs import PartitionKilledError, PoolLostError, Work
from qdecomp.terminal import printable
from qdecomp.version import VERSION

SECONDS_TO_CONNECT = 10.0
"""How long a scheduler may take to answer."""

# How long a lost one may take to come back.
_SECONDS_FOR_A_SCHEDULER = 60.0
_LOG = logging.getLogger(__name__)
# Two for each thread: one is processed while the other is in transit.
_AHEAD_OF_A_THREAD = 2
_LEAST_AHEAD = 4
_SECONDS_BETWEEN_COUNTS = 5.0
_SECONDS_BETWEEN_LOOKS = 0.1
# The connection is lost, and with it what was in flight.
_LOST = (concurrent.futures.CancelledError, asyncio.CancelledError, ClosedClientError, OSError)


def connect(address: str, seconds: float) -> Client:
    """A client of the scheduler at an address; a :class:`DataError` if there is none."""
    # Dask logs pages about lost connections, for which we print one line.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        return Client(address, timeout=seconds, set_as_default=False)
    except (OSError, ValueError, TypeError, asyncio.TimeoutError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise DataError(f"{address}: no Dask scheduler answers ({reason}); start one with: dask scheduler") from None


def cluster_pool(address: str) -> DaskPool:
    """The workers of the scheduler at an address."""

    def report(line: str) -> None:
        print(f"qdecomp: {printable(line)}", file=sys.stderr, flush=True)

    return DaskPool(connect(address, SECONDS_TO_CONNECT), reopen=partial(connect, address), report=report)


class DaskPool:
    """The workers of a Dask client."""

    def __init__(
        self,
        client: Client,
        *,
        reopen: Callable[[float], Client] | None = None,
        report: Callable[[str], None] = _LOG.warning,
        patience: float = _SECONDS_FOR_A_SCHEDULER,
    ) -> None:
        """``reopen`` makes a new client within some seconds, if this one, which is ours, cannot reconnect."""
        self._client = client
        self._address = client.scheduler.address if client.scheduler is not None else "the scheduler"
        self._reopen = reopen
        self._report = report
        self._patience = patience
        self._threads: int | None = None
        self._counted = -_SECONDS_BETWEEN_COUNTS

    def submit(self, work: Work, rows: Sequence[Any]) -> Future[Any]:
        """Start work on a partition."""
        if self._client.status != "running":
            # What is submitted now may wait forever.
            raise PoolLostError
        try:
            return self._client.submit(qdecomp_partition, VERSION, work, rows, pure=False)
        except _LOST as error:
            raise PoolLostError from error

    def result(self, handle: Future[Any]) -> Sequence[Any]:
        """Wait for a partition; raises the errors of a pool, and what the work itself raised."""
        while True:
            try:
                found: Sequence[Any] = handle.result(timeout=_SECONDS_BETWEEN_COUNTS)
                return found
            except KilledWorker as error:
                raise PartitionKilledError(str(error)) from None
            except ModuleNotFoundError as error:
                raise DataError(
                    f"a worker cannot do this ({error}); install qdecomp {VERSION} on all workers"
                ) from None
            except (*_LOST, asyncio.TimeoutError) as error:
                if handle.status == "error":
                    # It comes from the work itself.
                    raise
                if handle.status != "pending" or self._client.status != "running":
                    raise PoolLostError from error
                self.ahead()

    def wait(self, handles: Iterable[Future[Any]]) -> None:
        """Wait until all have ended."""
        for handle in handles:
            with suppress(*_LOST):
                handle.exception()

    def ahead(self) -> int:
        """How many partitions to keep in flight: enough for the workers that are there now."""
        now = time.monotonic()
        if now - self._counted >= _SECONDS_BETWEEN_COUNTS:
            before, self._counted = self._threads, now
            self._threads = self._count_threads()
            if self._threads == 0 and before != 0:
                self._report(f"{self._address}: the cluster has no workers; waiting for one")
        return max(_LEAST_AHEAD, _AHEAD_OF_A_THREAD * (self._threads or 0))

    def recover(self) -> None:
        """Wait until the scheduler is back, even if it is now another process."""
        if self._client.status == "running":
            return
        self._report(f"{self._address}: lost the scheduler; waiting up to {self._patience:.0f} seconds for it")
        end = time.monotonic() + self._patience
        # The client tries on its own, and gives up after some time.
        while self._client.status == "connecting" and time.monotonic() < end:
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        while self._client.status != "running" and time.monotonic() < end and self._reopen is not None:
            self.close()
            try:
                self._client = self._reopen(max(_SECONDS_BETWEEN_LOOKS, end - time.monotonic()))
            except DataError:
                time.sleep(_SECONDS_BETWEEN_LOOKS)
        if self._client.status != "running":
            raise DataError(
                f"{self._address}: the scheduler did not come back; start it and run this again: output so far is kept"
            )
        self._counted = -_SECONDS_BETWEEN_COUNTS
        self._report(f"{self._address}: the scheduler is back; continuing")

    def close(self) -> None:
        """End the connection, unless it is somebody else's; what is still in flight is abandoned."""
        if self._reopen is None:
            return
        try:
            self._client.close(timeout=_SECONDS_BETWEEN_COUNTS)
        except (*_LOST, asyncio.TimeoutError, RuntimeError):
            return

    def _count_threads(self) -> int | None:
        if self._client.status != "running":
            # It would wait until the scheduler is back.
            return self._threads
        try:
            threads: dict[str, int] = self._client.nthreads()
            return sum(threads.values())
        except (*_LOST, asyncio.TimeoutError, AttributeError):
            # A client that lost its scheduler closes itself in another thread, and then has none to ask.
            return self._threads


def qdecomp_partition(version: str, work: Work, rows: Sequence[Any]) -> Sequence[Any]:
    """On a worker: do the work, if this is the version that asks for it. Dask's pages show this name."""
    if version != VERSION:
        raise DataError(f"a worker has qdecomp {VERSION}, but this is {version}; install the same version everywhere")
    return work(rows)
