"""What benchmarks share: fresh processes, two clocks and memory."""

from __future__ import annotations

import json
import multiprocessing
import platform
import resource
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import click
import psutil

from qdecomp.files import write_text_atomically
from qdecomp.version import VERSION

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


@dataclass
class Clock:
    """Seconds that a ``with clock()`` block took: wall time and CPU time."""

    wall: float = 0.0
    cpu: float = 0.0


@contextmanager
def clock() -> Iterator[Clock]:
    """Measure a block; on a busy machine, CPU time is the more reliable of the two."""
    measured = Clock()
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        yield measured
    finally:
        measured.wall, measured.cpu = time.perf_counter() - wall, time.process_time() - cpu


def children_cpu() -> float:
    """CPU seconds of all ended processes that this one started, including their children."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def peak_memory_mb() -> float:
    """The peak memory of this process, in megabytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if platform.system() == "Darwin" else 2**10)


def evenly_spread(values: Sequence[T], count: int) -> list[T]:
    """So many of the values, or all: files are often sorted by source."""
    step = max(len(values) / count, 1.0)
    return [values[int(number * step)] for number in range(min(count, len(values)))]


def median_ms(seconds: Sequence[float]) -> float:
    """The median, in milliseconds."""
    return 1000 * statistics.median(seconds)


def in_fresh_process(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run a function of a module in a new interpreter, so that nothing is warm or cached."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=context) as executor:
        return executor.submit(function, *args, **kwargs).result()


json_option = click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the results here.")
"""The option of all benchmarks whose value :func:`write_results` takes."""


def write_results(path: Path | None, results: dict[str, Any]) -> None:
    """Write results as JSON, with the version and the machine, if there is a path."""
    if path is None:
        return
    machine = {"python": platform.python_version(), "system": platform.system(), "machine": platform.machine()}
    with write_text_atomically(path) as stream:
        json.dump({"qdecomp_version": VERSION, "machine": machine, **results}, stream, indent=1)
        stream.write("\n")


def tree_memory_mb(pid: int) -> float:
    """The memory of a process and of all processes below it."""
    return sum(_of_tree(pid, lambda process: process.memory_info().rss)) / 2**20


def tree_cpu_seconds(pid: int) -> float:
    """The CPU time of a process and of all processes below it that are still running."""
    return sum(_of_tree(pid, lambda process: sum(process.cpu_times()[:2])))


def _of_tree(pid: int, measure: Callable[[psutil.Process], float]) -> Iterator[float]:
    try:
        first = psutil.Process(pid)
        processes = [first, *first.children(recursive=True)]
    except psutil.NoSuchProcess:
        return
    for process in processes:
        with suppress(psutil.NoSuchProcess):  # it has ended
            yield measure(process)
