"""Run a command and sample the CPU time and memory of it and its children (Linux)."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from qdecomp.data_structures.errors import DataError

__all__ = ["MeasuredCommand", "cpu_seconds", "memory_mb", "run_measured"]

_SECONDS_BETWEEN_LOOKS = 0.2
# A long run needs no more samples than a figure can show.
_MOST_SAMPLES = 400


@dataclass(frozen=True, slots=True)
class MeasuredCommand:
    """What a command took. ``own_cpu_seconds`` is the part of its first process, which children cannot take over."""

    wall_seconds: float
    cpu_seconds: float
    own_cpu_seconds: float
    peak_mb: float
    memory: tuple[tuple[float, float], ...]
    """Seconds since the start, and megabytes of all processes together."""


def run_measured(command: Sequence[str], environment: Mapping[str, str], folder: Path) -> MeasuredCommand:
    """Run a command to its end; if it fails, that is an error with its last line."""
    started = time.monotonic()
    errors = folder / "errors.txt"
    with errors.open("w") as stderr:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=stderr, env=dict(environment))
    samples: list[tuple[float, float]] = []
    own = 0.0
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        samples.append((time.monotonic() - started, memory_mb(process.pid)))
        own = max(own, _own_cpu_seconds(process.pid))
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        last = errors.read_text(errors="replace").strip().splitlines()[-1:]
        raise DataError(f"{' '.join(command[:6])} … failed with exit code {process.returncode}: {''.join(last)}")
    return MeasuredCommand(
        wall_seconds=time.monotonic() - started,
        cpu_seconds=usage.ru_utime + usage.ru_stime,
        own_cpu_seconds=own,
        peak_mb=max((megabytes for _, megabytes in samples), default=0.0),
        memory=tuple(samples[:: len(samples) // _MOST_SAMPLES + 1]),
    )


def memory_mb(pid: int) -> float:
    """The memory of a process and of all processes below it."""
    return sum(_resident_mb(each) for each in (pid, *_children(pid)))


def cpu_seconds(pid: int) -> float:
    """The CPU time of a process and of all processes below it that are still running."""
    return sum(_own_cpu_seconds(each) for each in (pid, *_children(pid)))


def _children(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            for child in map(int, task.read_text().split()):
                found += [child, *_children(child)]
        except OSError:
            continue  # it has ended
    return found


def _resident_mb(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:")), 0.0)


def _own_cpu_seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
