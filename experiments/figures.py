"""The figure of an experiment: as SVG and as PNG.

Systems differ by marker, line style or hatching as well as by colour. The paper's own figures are drawn pale.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .results import NOT_RUN, Block, Entry, Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
_MARKERS = "osD^vP"
_LINES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)))
_HATCHES = ("", "///", "...", "\\\\\\", "xxx", "---")
_PALE = 0.35
_NO_VALUE = float("nan")
# A longer legend stands beside the axes, where it covers nothing.
_MOST_INSIDE = 4
_STYLE: dict[Any, Any] = {
    "text.parse_math": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "qdecomp",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "hatch.linewidth": 0.6,
}


class _Series(NamedTuple):
    """A row of a table, ours or the paper's, with the number of its colour."""

    label: str
    place: int
    values: list[float]
    errors: list[list[float]]
    is_paper: bool


def draw_figure(result: Result, folder: Path) -> None:
    """Draw the figure of an experiment into NAME.svg and NAME.png."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    # Of several tables, the first is what the experiment is about, except in one that compares two of them.
    blocks = result.blocks[: 2 if result.name == "domain_generalisation" else 1]
    is_horizontal = result.plot == "horizontal bars"
    folder.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context(_STYLE):
        height = 1.5 + 0.5 * len(blocks[0].columns) if is_horizontal else 4.2
        figure = Figure(figsize=(8.5, height * len(blocks)), layout="constrained")
        FigureCanvasAgg(figure)
        for axes, block in zip(figure.subplots(len(blocks), squeeze=False)[:, 0], blocks, strict=True):
            series = list(_series(block))
            if result.plot == "lines":
                _draw_lines(axes, series)
            else:
                _draw_bars(axes, series, is_horizontal)
            places = range(len(block.columns))
            if is_horizontal:
                axes.set_yticks(places, block.columns, fontsize=8)
                axes.invert_yaxis()
                axes.set_xlabel(result.axis)
            else:
                axes.set_xticks(places, block.columns)
                axes.set_ylabel(result.axis)
            axes.grid(axis="x" if is_horizontal else "y", linewidth=0.5)
            axes.set_title(f"{block.title} ({result.size})", loc="left", fontsize=10)
            beside = {"loc": "center left", "bbox_to_anchor": (1.01, 0.5)} if len(series) > _MOST_INSIDE else {}
            axes.legend(fontsize=8, **beside)
        for suffix, options in (("svg", {"metadata": {"Date": None, "Creator": None}}), ("png", {"dpi": 150})):
            figure.savefig(folder / f"{result.name}.{suffix}", **options)


def _series(block: Block) -> Iterator[_Series]:
    """Our rows, each with its bootstrap intervals, and then the paper's."""
    columns = block.columns
    entries = {(entry.row, entry.column): entry for entry in block.entries if entry.value is not None}
    places = {row: place for place, row in enumerate(dict.fromkeys(entry.row for entry in block.entries))}
    for row, place in places.items():
        cells = [entries.get((row, column), Entry(row, column)) for column in columns]
        values = [_NO_VALUE if cell.value is None else cell.value for cell in cells]
        bounds = [(cell.low, cell.high) for cell in cells]
        # A value may lie outside of its interval by rounding.
        below = [0.0 if low is None else max(0.0, value - low) for value, (low, _) in zip(values, bounds, strict=True)]
        above = [
            0.0 if high is None else max(0.0, high - value) for value, (_, high) in zip(values, bounds, strict=True)
        ]
        missing = sum(cell.value is None for cell in cells)
        label = f"{row} ({missing} of {len(columns)} {NOT_RUN})" if missing else row
        yield _Series(label, place, values, [below, above], is_paper=False)
    for row, figures in block.paper.items():
        if row in places:
            values = [figures.get(column, _NO_VALUE) for column in columns]
            yield _Series(f"{row}, the paper", places[row], values, [[0.0] * len(columns)] * 2, is_paper=True)


def _draw_lines(axes: Axes, series: list[_Series]) -> None:
    for label, place, values, errors, is_paper in series:
        style: dict[str, Any] = {"color": _COLOURS[place % 6], "marker": _MARKERS[place % 6], "label": label}
        at = [index + 0.04 * place * (not is_paper) for index in range(len(values))]
        if is_paper:
            axes.plot(at, values, alpha=_PALE, linewidth=1, **style)
        else:
            axes.errorbar(at, values, errors, linestyle=_LINES[place % 6], capsize=2.5, elinewidth=0.9, **style)


def _draw_bars(axes: Axes, series: list[_Series], is_horizontal: bool) -> None:
    width = 0.8 / len(series)
    for number, (label, place, values, errors, is_paper) in enumerate(series):
        at = [index + (number + 0.5) * width - 0.4 for index in range(len(values))]
        style: dict[str, Any] = {"color": _COLOURS[place % 6], "alpha": _PALE if is_paper else 1.0, "label": label}
        style |= {"hatch": _HATCHES[number % 6], "edgecolor": "#333333", "error_kw": {"elinewidth": 0.9}}
        if not is_paper:
            style["xerr" if is_horizontal else "yerr"] = errors
        draw = axes.barh if is_horizontal else axes.bar
        draw(at, values, width, **style)
