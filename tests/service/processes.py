"""A service in a separate process, as users start it."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

SERVE = (sys.executable, "-m", "qdecomp", "serve", "--port", "0")


@dataclass
class ServiceProcess:
    """The process, and the address that it printed."""

    process: subprocess.Popen[str]
    address: str

    @property
    def port(self) -> int:
        return int(self.address.rstrip("/").rpartition(":")[2])

    def stop(self) -> tuple[int, str]:
        """Ask it to stop; returns its exit code, and what it wrote since it began to listen."""
        self.process.send_signal(signal.SIGTERM)
        return self.end()

    def end(self) -> tuple[int, str]:
        """Wait for the end of one that was asked to stop."""
        _, errors = self.process.communicate(timeout=300)
        return self.process.returncode, errors


@contextmanager
def running_service(*options: str, command: Sequence[str] = SERVE, **settings: Any) -> Iterator[ServiceProcess]:
    """Start the service, by default ``qdecomp serve`` at a free port, and end it if the test did not."""
    settings = {"stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL, "text": True, **settings}
    process = subprocess.Popen([*command, *options], **settings)
    try:
        assert process.stderr is not None
        lines = []
        # A library may warn about the machine before.
        for line in process.stderr:
            lines.append(line)
            if address := re.search(r"answers? at (http://\S+/)", line):
                break
        else:
            pytest.fail("".join(lines))
        yield ServiceProcess(process, address[1])
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()
