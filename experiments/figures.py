"""The figure of an experiment, drawn from the JSON of its table: as SVG and as PNG.

Systems differ by marker, line style or hatching as well as by colour. The paper's own figures are drawn pale.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .results import NOT_RUN

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_figure"]

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
_MARKERS = "osD^vP"
_LINES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)))
_HATCHES = ("", "///", "...", "\\\\\\", "xxx", "---")
_PALE = 0.35
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


# A longer legend stands beside the axes, where it covers nothing.
_MOST_INSIDE = 4


def draw_figure(table: Path, folder: Path) -> None:
    """Draw the figure of a table's JSON into NAME.svg and NAME.png."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    result = json.loads(table.read_text(encoding="utf-8"))
    # Of several tables, the first is what the experiment is about, except in one that compares two of them.
    blocks = result["blocks"][:2] if result["name"] == "domain_generalisation" else result["blocks"][:1]
    draw = _DRAWERS[result["plot"]]
    folder.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context(_STYLE):
        height = 4.2 if result["plot"] != "horizontal bars" else 1.5 + 0.5 * len(blocks[0]["columns"])
        figure = Figure(figsize=(8.5, height * len(blocks)), layout="constrained")
        FigureCanvasAgg(figure)
        for axes, block in zip(figure.subplots(len(blocks), squeeze=False)[:, 0], blocks, strict=True):
            draw(axes, block, result["axis"])
            axes.set_title(f"{block['title']} ({result['size']})", loc="left", fontsize=10)
            _legend(axes)
        for suffix, options in (("svg", {"metadata": {"Date": None, "Creator": None}}), ("png", {"dpi": 150})):
            path = folder / f"{result['name']}.{suffix}"
            temporary = path.with_name(f".{path.name}.{os.getpid()}")
            figure.savefig(temporary, format=suffix, **options)
            os.replace(temporary, path)


def _legend(axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    if len(handles) > _MOST_INSIDE:
        axes.legend(handles, labels, fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5))
    elif handles:
        axes.legend(handles, labels, fontsize=8, loc="best")


def _rows(block: Mapping[str, Any]) -> dict[str, list[Mapping[str, Any] | None]]:
    """The figures of each row by column; None if a cell was not run."""
    entries = {(entry["row"], entry["column"]): entry for entry in block["entries"]}
    names = dict.fromkeys(entry["row"] for entry in block["entries"])
    found = {}
    for name in names:
        cells = [entries.get((name, column)) for column in block["columns"]]
        found[name] = [cell if cell is not None and cell["value"] is not None else None for cell in cells]
    return found


def _values(cells: Sequence[Mapping[str, Any] | None]) -> list[float]:
    return [float("nan") if cell is None else cell["value"] for cell in cells]


def _errors(cells: Sequence[Mapping[str, Any] | None]) -> list[list[float]]:
    spans = [
        (0.0, 0.0)
        if cell is None or cell["low"] is None
        else (max(0.0, cell["value"] - cell["low"]), max(0.0, cell["high"] - cell["value"]))
        for cell in cells
    ]
    return [[low for low, _ in spans], [high for _, high in spans]]


def _label(name: str, cells: Sequence[Mapping[str, Any] | None]) -> str:
    missing = sum(cell is None for cell in cells)
    return f"{name} ({missing} of {len(cells)} {NOT_RUN})" if missing else name


def _lines(axes: Axes, block: Mapping[str, Any], axis: str) -> None:
    columns = block["columns"]
    for place, (name, cells) in enumerate(_rows(block).items()):
        style: dict[str, Any] = {"color": _COLOURS[place % 6], "marker": _MARKERS[place % 6]}
        axes.errorbar(
            [index + 0.04 * place for index in range(len(columns))],
            _values(cells),
            yerr=_errors(cells),
            label=_label(name, cells),
            linestyle=_LINES[place % 6],
            capsize=2.5,
            elinewidth=0.9,
            **style,
        )
        paper = block["paper"].get(name)
        if paper:
            values = [paper.get(column, float("nan")) for column in columns]
            axes.plot(range(len(columns)), values, label=f"{name}, the paper", alpha=_PALE, linewidth=1, **style)
    axes.set_xticks(range(len(columns)), columns)
    axes.set_xlabel(block["head"])
    axes.set_ylabel(axis)
    axes.grid(axis="y", linewidth=0.5)


def _bars(axes: Axes, block: Mapping[str, Any], axis: str, *, horizontal: bool = False) -> None:
    columns = block["columns"]
    series = _series(block)
    width = 0.8 / len(series)
    for place, (label, values, errors, colour, alpha) in enumerate(series):
        at = [index + (place + 0.5) * width - 0.4 for index in range(len(columns))]
        look: dict[str, Any] = {
            "label": label,
            "color": colour,
            "alpha": alpha,
            "hatch": _HATCHES[place % 6],
            "edgecolor": "#333333",
        }
        if horizontal:
            axes.barh(at, values, width, xerr=errors, error_kw={"elinewidth": 0.9}, **look)
        else:
            axes.bar(at, values, width, yerr=errors, error_kw={"elinewidth": 0.9, "capsize": 2}, **look)
    if horizontal:
        axes.set_yticks(range(len(columns)), columns, fontsize=8)
        axes.invert_yaxis()
        axes.set_xlabel(axis)
    else:
        axes.set_xticks(range(len(columns)), columns)
        axes.set_ylabel(axis)
    axes.grid(axis="x" if horizontal else "y", linewidth=0.5)


def _series(block: Mapping[str, Any]) -> list[tuple[str, list[float], list[list[float]] | None, str, float]]:
    """Bars with a label, values, intervals, a colour and its opacity: our rows first, then the paper's."""
    rows = _rows(block)
    colours = {name: _COLOURS[place % 6] for place, name in enumerate(rows)}
    ours = [(_label(name, cells), _values(cells), _errors(cells), colours[name], 1.0) for name, cells in rows.items()]
    papers = [
        (
            f"{name}, the paper",
            [figures.get(column, float("nan")) for column in block["columns"]],
            None,
            colours[name],
            _PALE,
        )
        for name, figures in block["paper"].items()
        if name in colours
    ]
    return [*ours, *papers]


def _horizontal_bars(axes: Axes, block: Mapping[str, Any], axis: str) -> None:
    _bars(axes, block, axis, horizontal=True)


_DRAWERS: Mapping[str, Callable[[Axes, Mapping[str, Any], str], None]] = {
    "lines": _lines,
    "bars": _bars,
    "horizontal bars": _horizontal_bars,
}
