"""The plot of a calibration: how many plans are right at which confidence, and how many plans there are of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from scipy.stats import binomtest

from qdecomp.parsers.calibration import ReliabilityBin

__all__ = ["write_calibration_plot"]

# Text stays text, and nothing in the file depends on the time or on chance.
_STYLE = {"svg.fonttype": "none", "svg.hashsalt": "calibration", "font.size": 10, "axes.axisbelow": True}
_BAR_WIDTH = 0.08


def write_calibration_plot(path: Path, bins: Sequence[ReliabilityBin]) -> None:
    """Write the plot as SVG: a point with its 95% interval for each bin, and a bar for its number of plans."""
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(5, 5), layout="constrained", facecolor="white")
        FigureCanvasSVG(figure)
        points, counts = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
        sure, shares = [each.confidence for each in bins], [each.share for each in bins]
        points.plot([0, 1], [0, 1], color="0.5", linestyle="--", label="perfect")
        points.errorbar(sure, shares, yerr=_intervals(bins), fmt="o", capsize=3, color="#1f5fa8", label="measured")
        points.set(xlim=(0, 1), ylim=(0, 1), ylabel="share of right plans (LF-EM)")
        points.grid(color="0.9")
        points.legend(loc="upper left", frameon=False)
        counts.bar(sure, [each.plans for each in bins], width=_BAR_WIDTH, color="#1f5fa8")
        counts.set(xlabel="confidence", ylabel="plans")
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})


def _intervals(bins: Sequence[ReliabilityBin]) -> list[list[float]]:
    """How far the 95% intervals (Wilson) reach below and above the shares."""
    found = [binomtest(each.right, each.plans).proportion_ci(method="wilson") for each in bins]
    below = [max(0.0, each.share - interval.low) for each, interval in zip(bins, found, strict=True)]
    above = [max(0.0, interval.high - each.share) for each, interval in zip(bins, found, strict=True)]
    return [below, above]
