"""A real Dask scheduler with worker processes on this machine, made to be killed."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

SECONDS_TO_START = 300.0
"""How long a scheduler and its workers may take, on a busy machine."""
_PROJECT_ROOT = Path(__file__).resolve().parents[2]
# A row that kills a worker twice is taken for the culprit; Dask's own default is four times.
_SETTINGS = {
    "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",
    "DASK_DISTRIBUTED__WORKER__PRELOAD": "[]",
    "DASK_DISTRIBUTED__DIAGNOSTICS__NVML": "False",
    # However busy the machine is.
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "300s",
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "300s",
}


class DaskCluster:
    """A scheduler and two workers, each in its own process, on a port that stays the same after a restart."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        # While it is bound here, nobody else gets the port; the scheduler may listen there, because both allow it.
        self._reserved = socket.socket()
        self._reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._reserved.bind(("127.0.0.1", 0))
        self._port = self._reserved.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self._port}"
        self._processes: list[subprocess.Popen[bytes]] = []
        self.start()

    def start(self) -> None:
        """Start the scheduler and the workers."""
        scheduler = ["dask_scheduler", "--host", "127.0.0.1", "--port", str(self._port), "--no-dashboard"]
        workers = ["dask_worker", self.address, "--nworkers", "2", "--nthreads", "1", "--no-dashboard"]
        workers += ["--local-directory", str(self._folder)]
        self._processes = [self._run(scheduler), self._run(workers)]

    @property
    def is_running(self) -> bool:
        """Whether it was not killed since it was started."""
        return all(process.poll() is None for process in self._processes)

    def wait(self) -> None:
        """Wait until both workers are there."""
        from qdecomp.files.dask import connect

        with contextlib.closing(connect(self.address, SECONDS_TO_START)) as client:
            client.wait_for_workers(2, timeout=SECONDS_TO_START)

    def kill(self) -> None:
        """End the scheduler and the workers at once."""
        for process in self._processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def close(self) -> None:
        """End it for good."""
        self.kill()
        self._reserved.close()

    def _run(self, arguments: list[str]) -> subprocess.Popen[bytes]:
        module, *rest = arguments
        with (self._folder / f"{module}.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{module}", *rest],
                cwd=_PROJECT_ROOT,
                env={**os.environ, **_SETTINGS},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )


@contextlib.contextmanager
def dask_cluster(folder: Path) -> Iterator[DaskCluster]:
    """A cluster that ends with the block."""
    cluster = DaskCluster(folder)
    try:
        cluster.wait()
        yield cluster
    finally:
        cluster.close()
