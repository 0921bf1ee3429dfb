"""A model of how long many workers take, fitted to how long a few took.

A command has one process that reads, hands out rows, takes results in order and writes them; workers do the rest. Both
take time for each row, and both at the same time, so a run takes as long as the slower of the two:

    seconds = start + max(rows · own, rows · shared / workers)

``own`` is the CPU time of the first process with several workers, ``shared`` the CPU time of a single process minus
that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from qdecomp.terminal import Table

__all__ = [
    "MANY_QUESTIONS",
    "MANY_WORKERS",
    "ScaleRun",
    "StageCost",
    "cost_table",
    "fit_costs",
    "forecast_table",
    "run_table",
]

MANY_QUESTIONS = 100_000_000
MANY_WORKERS = (8, 64, 1_000)
_HOUR = 3600.0
_CLOCK_TICK = 0.01


@dataclass(frozen=True, slots=True)
class ScaleRun:
    """A stage on a number of questions with a number of workers, and what it took."""

    stage: str
    questions: int
    workers: int
    wall_seconds: float
    cpu_seconds: float
    own_cpu_seconds: float
    peak_mb: float
    memory: Sequence[Sequence[float]]


@dataclass(frozen=True, slots=True)
class StageCost:
    """What a stage costs: CPU seconds to start, and for each question."""

    stage: str
    start: float
    own: float
    shared: float

    @property
    def each(self) -> float:
        """The CPU seconds of a question, wherever they are spent."""
        return self.own + self.shared

    @property
    def useful_workers(self) -> float:
        """With more workers than these, the first process is the bottleneck."""
        return self.shared / self.own if self.own else float("inf")

    def seconds(self, questions: int, workers: int) -> float:
        """How long this many workers would take, with one core each."""
        return self.start + questions * max(self.own, self.shared / workers)


def fit_costs(runs: Sequence[ScaleRun]) -> list[StageCost]:
    """A cost for each stage that was measured with one worker."""
    costs = []
    for stage in dict.fromkeys(run.stage for run in runs):
        alone = [run for run in runs if run.stage == stage and run.workers == 1]
        if not alone:
            continue
        start, each = _line([(run.questions, run.cpu_seconds) for run in alone])
        several = [run for run in runs if run.stage == stage and run.workers > 1]
        # What is not distributed to workers is all done by one process.
        own = min(each, _own_of(several, start)) if several else each
        costs.append(StageCost(stage, start, own, each - own))
    return costs


def _own_of(runs: Sequence[ScaleRun], start: float) -> float:
    """The seconds of the first process for each question: the slope over the sizes, or what one size shows."""
    largest = max(run.questions for run in runs)
    if len({run.questions for run in runs}) > 1:
        _, own = _line([(run.questions, run.own_cpu_seconds) for run in runs])
    else:
        own = max(0.0, max(run.own_cpu_seconds for run in runs) - start) / largest
    # What the clock cannot resolve is not zero.
    return max(own, _CLOCK_TICK / largest)


def _line(points: Sequence[tuple[int, float]]) -> tuple[float, float]:
    """The start and the slope that fit best; relative errors count the same at every size."""
    import numpy as np

    sizes, seconds = (np.array(each, dtype=float) for each in zip(*points, strict=True))
    if len(points) == 1:
        return 0.0, float(seconds[0] / sizes[0])
    weights = 1 / np.maximum(seconds, 1e-9)
    system = np.stack([weights, sizes * weights], axis=1)
    (start, slope), *_ = np.linalg.lstsq(system, seconds * weights, rcond=None)
    if start < 0:
        return 0.0, float(np.mean(seconds / sizes))
    return float(start), max(0.0, float(slope))


def run_table(runs: Sequence[ScaleRun]) -> Table:
    """What was measured."""
    order = {stage: place for place, stage in enumerate(dict.fromkeys(run.stage for run in runs))}
    rows = tuple(
        (
            run.stage,
            f"{run.questions:,}",
            str(run.workers),
            f"{run.wall_seconds:,.1f}",
            f"{run.cpu_seconds:,.1f}",
            f"{run.questions / run.cpu_seconds:,.0f}" if run.cpu_seconds else "–",
            f"{run.peak_mb:,.0f}",
        )
        for run in sorted(runs, key=lambda run: (order[run.stage], run.workers, run.questions))
    )
    columns = ("stage", "questions", "workers", "wall s", "CPU s", "questions/CPU s", "peak MB")
    return Table("Measured", columns, rows, note="CPU seconds and megabytes of all processes together, start included.")


def cost_table(costs: Sequence[StageCost]) -> Table:
    """What a question costs, and where."""
    rows = tuple(
        (
            cost.stage,
            f"{cost.start:.1f}",
            f"{1000 * cost.each:.3f}",
            f"{1000 * cost.own:.3f}",
            f"{cost.useful_workers:,.0f}" if cost.shared else "1",
            f"{cost.each * 1_000_000 / _HOUR:.2f}",
        )
        for cost in costs
    )
    heads = ("start s", "ms a question", "of these in the first process", "useful workers", "core hours a million")
    note = "With more workers than the useful ones, the one process that reads and writes is the bottleneck."
    return Table("Cost", ("stage", *heads), rows, note=note)


def forecast_table(costs: Sequence[StageCost]) -> Table:
    """How long many workers would take, by the model."""
    rows = tuple(
        (
            cost.stage,
            *(_duration(cost.seconds(MANY_QUESTIONS, workers)) for workers in MANY_WORKERS),
            "the first process" if MANY_WORKERS[-1] > cost.useful_workers or not cost.shared else "the workers",
        )
        for cost in costs
    )
    columns = ("stage", *(f"{workers:,} workers" for workers in MANY_WORKERS), "bottleneck at the last")
    note = (
        "By the model, each worker with a core of its own. A file that is split into parts, with a command for each, "
        "has as many first processes, and divides these times by their number."
    )
    return Table(f"{MANY_QUESTIONS:,} questions", columns, rows, note=note)


def _duration(seconds: float) -> str:
    if seconds < 2 * 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 2 * _HOUR else f"{seconds / _HOUR:,.1f} h"
