"""A service in a separate process, as users start it."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class ServiceProcess:
    """The process, and the address that it printed."""

    process: subprocess.Popen[str]
    address: str

    @property
    def port(self) -> int:
        return int(self.address.rstrip("/").rpartition(":")[2])

    def stop(self) -> tuple[int, str]:
        """Ask it to stop; returns its exit code, and what it wrote meanwhile."""
        self.process.send_signal(signal.SIGTERM)
        _, errors = self.process.communicate(timeout=120)
        return self.process.returncode, errors


@contextmanager
def running_service(*options: str) -> Iterator[ServiceProcess]:
    """Start ``qdecomp serve`` at a free port, and end it if the test did not."""
    command = [sys.executable, "-m", "qdecomp", "serve", "--port", "0", *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        address = re.search(r"http://\S+/", line)
        assert address is not None, line
        yield ServiceProcess(process, address[0])
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()
