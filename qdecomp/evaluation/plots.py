"""The report's figures, as SVG that takes its colours from the page.

Systems differ by marker, line style or hatching as well as by colour, so that the figures can be read in black and
white. Colours are written as CSS variables: the page sets them for light and dark screens and for print.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from math import nan
from typing import TYPE_CHECKING, Any

from qdecomp.evaluation.differences import DifferenceKind
from qdecomp.evaluation.statistics import Group, Score

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

SERIES = 8
"""How many systems look different; with more, looks repeat."""

_MARKERS = "osD^vP*X"
_LINES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (7, 2, 2, 2)))
_HATCHES = ("", "///", "...", "\\\\\\", "xxx", "---", "+++", "ooo")
SUBSETS_SHOWN = 16
"""How many subsets of systems fit in a figure."""
_LONGEST_LABEL = 30
# How much fits side by side in a legend.
_CHARACTERS_AN_INCH = 11
_CHARACTERS_OF_A_HANDLE = 9

# Colours that represent a CSS variable until the figure is written.
_INK = "#010101"
_FAINT = "#020202"
_PAPER = "#030303"
_VARIABLES = {_INK: "--ink", _FAINT: "--faint", _PAPER: "--paper"} | {
    f"#0404{number:02d}": f"--series-{number}" for number in range(1, SERIES + 1)
}

_STYLE: dict[Any, Any] = {
    # A dollar sign in a system's name is a dollar sign.
    "text.parse_math": False,
    "svg.fonttype": "none",
    "font.size": 10,
    "text.color": _INK,
    "axes.labelcolor": _INK,
    "axes.edgecolor": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "grid.color": _FAINT,
    "hatch.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
}


def plot_by_steps(groups: Sequence[Group], metric: str, title: str) -> str:
    """A line for each system over the number of gold steps, with intervals, and the number of questions below."""

    def draw(figure: Figure) -> None:
        lines, counts = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
        names = list(groups[0].scores)
        for place, name in enumerate(names):
            means, spans = _percents([group.scores[name][metric] for group in groups])
            # Side by side, so that the intervals of two systems do not cover each other.
            shift = 0.12 * (place - (len(names) - 1) / 2)
            lines.errorbar(
                [index + shift for index in range(len(groups))],
                means,
                yerr=spans,
                label=_label(name),
                color=_colour(place),
                marker=_MARKERS[place % SERIES],
                linestyle=_LINES[place % SERIES],
                markersize=5,
                linewidth=1.6,
                elinewidth=0.9,
                capsize=2.5,
            )
        lines.set_ylabel(f"{title} (%)")
        # Room for markers at 0 and at the top.
        lines.margins(y=0.06)
        lines.grid(axis="y", linewidth=0.6)
        _legend(figure, lines)
        places = range(len(groups))
        bars = counts.bar(places, [group.questions for group in groups], color=_FAINT, edgecolor=_INK, linewidth=0.6)
        counts.bar_label(bars, fmt="{:,.0f}", fontsize=7, padding=1)
        counts.margins(y=0.35)
        counts.set(ylabel="questions", xlabel="number of gold steps")
        _count_axis(counts.yaxis)
        counts.set_xticks(places, [group.name for group in groups])

    return _svg(draw, (8.2, 4.6), "by-steps")


def plot_by_source(groups: Sequence[Group], metric: str, title: str) -> str:
    """Bars for each source, one per system, with intervals."""

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        names = list(groups[0].scores)
        for place, name in enumerate(names):
            means, spans = _percents([group.scores[name][metric] for group in groups])
            places, width = _side_by_side(place, len(names), len(groups))
            errors = {"ecolor": _INK, "elinewidth": 0.9, "capsize": 2.5}
            axes.bar(places, means, width, yerr=spans, label=_label(name), error_kw=errors, **_fill(place))
        axes.set_xticks(range(len(groups)), [f"{group.name}\n({group.questions:,})" for group in groups])
        axes.set(ylabel=f"{title} (%)", xlabel="source (questions)")
        axes.grid(axis="y", linewidth=0.6)
        _legend(figure, axes)

    return _svg(draw, (max(6.0, 1.0 * len(groups) + 1.5), 3.8), "by-source")


def plot_agreement(subsets: Mapping[tuple[str, ...], int], systems: Sequence[str]) -> str:
    """Bars for the subsets of systems, the largest first; dots below show which systems are right."""
    shown = dict(islice(subsets.items(), SUBSETS_SHOWN))
    total = max(sum(subsets.values()), 1)

    def draw(figure: Figure) -> None:
        bars_axes, dots = figure.subplots(2, 1, sharex=True, height_ratios=(3, 0.45 * len(systems)))
        bars = bars_axes.bar(range(len(shown)), shown.values(), 0.6, facecolor=_FAINT, edgecolor=_INK, linewidth=0.8)
        shares = [f"{count:,}\n{100 * count / total:.1f}%" for count in shown.values()]
        bars_axes.bar_label(bars, shares, fontsize=8, padding=2)
        bars_axes.margins(y=0.2)
        bars_axes.set_ylabel("questions")
        _count_axis(bars_axes.yaxis)
        bars_axes.tick_params(axis="x", length=0)
        for row, name in enumerate(systems):
            for place, subset in enumerate(shown):
                colour = _INK if name in subset else _PAPER
                dots.plot(place, row, "o", markersize=9, markeredgecolor=_INK, markerfacecolor=colour)
        for place, subset in enumerate(shown):
            rows = [systems.index(name) for name in subset]
            if len(rows) > 1:
                dots.plot([place, place], [min(rows), max(rows)], color=_INK, linewidth=2, zorder=1)
        dots.set_yticks(range(len(systems)), [_label(name) for name in systems])
        dots.set(ylim=(len(systems) - 0.5, -0.5), xlim=(-0.7, len(shown) - 0.3), xlabel="right: filled, wrong: empty")
        dots.tick_params(axis="both", length=0, labelbottom=False)
        dots.spines[:].set_visible(False)

    longest = max(len(_label(name)) for name in systems)
    width = 0.75 if len(shown) <= 8 else 0.55
    return _svg(draw, (width * len(shown) + 1.6 + 0.08 * longest, 3.0 + 0.35 * len(systems)), "agreement")


def plot_differences(counts: Mapping[str, Mapping[DifferenceKind, int]], wrong: Mapping[str, int]) -> str:
    """Bars for the kinds of difference, one per system: numbers of questions, and shares of its wrong answers."""
    kinds = list(DifferenceKind)

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for place, (name, of_system) in enumerate(counts.items()):
            numbers = [of_system.get(kind, 0) for kind in kinds]
            places, height = _side_by_side(place, len(counts), len(kinds))
            bars = axes.barh(places, numbers, height, label=f"{_label(name)} ({wrong[name]:,} wrong)", **_fill(place))
            labels = [f"{number:,} ({100 * number / max(wrong[name], 1):.0f}%)" for number in numbers]
            axes.bar_label(bars, labels, fontsize=8, padding=3)
        axes.set_yticks(range(len(kinds)), [str(kind) for kind in kinds])
        axes.invert_yaxis()
        axes.margins(x=0.16)
        _count_axis(axes.xaxis)
        axes.set_xlabel("questions (share of the system's wrong answers); a question may have several kinds")
        axes.grid(axis="x", linewidth=0.6)
        _legend(figure, axes)

    return _svg(draw, (8.0, 1.6 + len(kinds) * max(0.4, 0.22 * len(counts))), "differences")


def _count_axis(axis: Axis) -> None:
    """Ticks at whole numbers, since there are no half questions."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1, nbins="auto"))
    axis.set_major_formatter("{x:,.0f}")


def _side_by_side(place: int, systems: int, groups: int) -> tuple[list[float], float]:
    """Where the bars of a system begin in each group, and how wide they are."""
    width = 0.8 / systems
    return [index + (place + 0.5) * width - 0.4 for index in range(groups)], width


def _percents(scores: Sequence[Score]) -> tuple[list[float], list[list[float]]]:
    """The means, and how far the intervals reach below and above them; zero if there is no interval."""
    means = [nan if score.mean is None else 100 * score.mean for score in scores]
    spans = [
        (0.0, 0.0)
        if score.mean is None or score.low is None or score.high is None
        else (100 * max(0.0, score.mean - score.low), 100 * max(0.0, score.high - score.mean))
        for score in scores
    ]
    return means, [[below for below, _ in spans], [above for _, above in spans]]


def _label(name: str) -> str:
    """A name that fits; matplotlib leaves those that begin with an underscore out of the legend."""
    short = name if len(name) <= _LONGEST_LABEL else f"{name[: _LONGEST_LABEL - 1]}…"
    return f" {short}" if short.startswith("_") else short


def _colour(place: int) -> str:
    return f"#0404{place % SERIES + 1:02d}"


def _fill(place: int) -> dict[str, Any]:
    return {"facecolor": _colour(place), "edgecolor": _INK, "linewidth": 0.7, "hatch": _HATCHES[place % SERIES]}


def _legend(figure: Figure, axes: Axes) -> None:
    """At the top, in as many columns as fit, where it covers nothing."""
    handles, labels = axes.get_legend_handles_labels()
    characters = figure.get_figwidth() * _CHARACTERS_AN_INCH
    columns = max(1, int(characters // (max(map(len, labels)) + _CHARACTERS_OF_A_HANDLE)))
    figure.legend(handles, labels, loc="outside upper left", ncols=min(columns, len(labels)), handlelength=3)


def _svg(draw: Callable[[Figure], None], size: tuple[float, float], name: str) -> str:
    """Draw a figure and return it as an SVG element that can be in a page with others."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE | {"svg.hashsalt": name}):
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasSVG(figure)
        draw(figure)
        stream = io.StringIO()
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None}, bbox_inches="tight")
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    for colour, variable in _VARIABLES.items():
        text = text.replace(colour, f"var({variable})")
    # Ids must be unique in the page.
    return re.sub(r'(\bid="|xlink:href="#|url\(#)', rf"\g<1>{name}-", text)
