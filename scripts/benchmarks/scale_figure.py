"""The figure of how cost grows: CPU time, the time that many workers would take, and memory over time."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .scale_model import MANY_QUESTIONS, ScaleRun, StageCost

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_scale"]

# Colours that the colour-blind can distinguish, each with its own marker.
_STYLES = (("#0072b2", "o"), ("#d55e00", "s"), ("#009e73", "^"), ("#cc79a7", "D"), ("#e69f00", "v"))
_WORKERS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000)


def draw_scale(runs: Sequence[ScaleRun], costs: Sequence[StageCost]) -> str:
    """The figure as the text of an SVG."""
    import matplotlib
    from matplotlib.figure import Figure

    style: Any = {"svg.fonttype": "none", "svg.hashsalt": "scale", "font.size": 9, "axes.spines.top": False}
    with matplotlib.rc_context(style | {"axes.spines.right": False}):
        figure = Figure(figsize=(11, 3.6), layout="constrained")
        measured, forecast, memory = figure.subplots(1, 3)
        for cost, (colour, mark) in zip(costs, _STYLES, strict=False):
            _draw_measured(measured, runs, cost, colour, mark)
            hours = [cost.seconds(MANY_QUESTIONS, workers) / 3600 for workers in _WORKERS]
            forecast.loglog(_WORKERS, hours, color=colour, marker=mark, markersize=3, label=cost.stage)
            _draw_memory(memory, runs, cost.stage, colour)
        measured.set(title="Measured, and the fitted line", xlabel="questions", ylabel="CPU seconds")
        forecast.set(title=f"{MANY_QUESTIONS:,} questions (model)", xlabel="workers", ylabel="hours")
        memory.set(title="Memory (dashed: 2 workers)", xlabel="share of the run's time", ylabel="MB")
        # Room for the legend above the lines.
        memory.set_ylim(0, 1.5 * memory.get_ylim()[1])
        measured.legend(frameon=False)
        memory.legend(frameon=False)
        stream = io.StringIO()
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    return stream.getvalue()


def _draw_measured(axes: Axes, runs: Sequence[ScaleRun], cost: StageCost, colour: str, mark: str) -> None:
    points = sorted((run.questions, run.cpu_seconds) for run in runs if run.stage == cost.stage and run.workers == 1)
    sizes, seconds = zip(*points, strict=True)
    axes.loglog(sizes, seconds, mark, color=colour, label=cost.stage)
    axes.loglog(sizes, [cost.start + size * cost.each for size in sizes], color=colour, linewidth=0.8)


def _draw_memory(axes: Axes, runs: Sequence[ScaleRun], stage: str, colour: str) -> None:
    for workers, line in ((1, "-"), (2, "--")):
        of_stage = [run for run in runs if run.stage == stage and run.workers == workers and run.memory]
        if of_stage:
            largest = max(of_stage, key=lambda run: run.questions)
            times = [seconds / largest.wall_seconds for seconds, _ in largest.memory]
            label = f"{stage}, {largest.questions:,}" if workers == 1 else None
            axes.plot(times, [megabytes for _, megabytes in largest.memory], line, color=colour, label=label)
