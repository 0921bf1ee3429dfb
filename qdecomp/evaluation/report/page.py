"""The report as one HTML page that needs nothing else: no network, no scripts, figures as inline SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

from qdecomp.data_structures.lf_em import METRIC_VERSION
from qdecomp.data_structures.operators import Operator
from qdecomp.files.extras import missing_extra
from qdecomp.terminal.tables import Table
from qdecomp.version import VERSION

from ..differences import NO_STEP, DifferenceKind
from ..score_tables import problem_lines, score_tables

if TYPE_CHECKING:
    from markupsafe import Markup

    from .report import Report, SystemAnalysis

__all__ = ["render_page"]

_METRIC = "lf_em"
_METRIC_TITLE = "LF-EM"


@dataclass(frozen=True, slots=True)
class _Figure:
    svg: Markup
    caption: str


@dataclass(frozen=True, slots=True)
class _ConfusionCell:
    count: int
    share: float
    is_agreement: bool


@dataclass(frozen=True, slots=True)
class _Confusion:
    """A row of cells for each gold operator that occurs, with the row's sum."""

    system: str
    compared: int
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[_ConfusionCell, ...], int], ...]


def render_page(report: Report) -> str:
    """The page as text; whatever comes from data is escaped."""
    try:
        from jinja2 import Environment, StrictUndefined

        figures = _figures(report)
    except ImportError:
        raise missing_extra("the report", "report") from None
    template = (
        resources.files("qdecomp.evaluation.report").joinpath("templates/report.html").read_text(encoding="utf-8")
    )
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    tables = {table.title: table for table in score_tables(report.summary)}
    evaluation = report.summary.evaluation
    return environment.from_string(template).render(
        gold=evaluation.gold,
        systems=evaluation.systems,
        problems=[
            line
            for path, problems in [
                (evaluation.gold.path, evaluation.gold.problems),
                *((system.system.path, system.system.problems) for system in evaluation.systems),
            ]
            for line in problem_lines(path, problems)
        ],
        version=VERSION,
        metric_version=METRIC_VERSION,
        tables=tables,
        figures=figures,
        agreement_table=_agreement_table(report),
        difference_table=_difference_table(report),
        confusions=[_confusion(system) for system in report.systems],
        kinds=list(DifferenceKind),
        analyses=report.systems,
    )


def _figures(report: Report) -> dict[str, _Figure]:
    from markupsafe import Markup

    from . import plots

    names = [system.name for system in report.systems]
    breakdowns = report.summary.breakdowns
    by_steps = {name: each.by_steps for name, each in zip(names, breakdowns, strict=True)}
    by_source = {name: each.by_source for name, each in zip(names, breakdowns, strict=True)}
    kinds: Mapping[str, Mapping[DifferenceKind, int]] = {system.name: system.kinds for system in report.systems}
    subsets = len(report.agreement)
    only = f": the {plots.SUBSETS_SHOWN} largest of {subsets} subsets" if subsets > plots.SUBSETS_SHOWN else ""
    drawn = {
        "steps": (
            plots.plot_by_steps(by_steps, _METRIC, _METRIC_TITLE),
            f"{_METRIC_TITLE} by number of gold steps, with 95% intervals; below, how many questions have that many.",
        ),
        "source": (
            plots.plot_by_source(by_source, _METRIC, _METRIC_TITLE),
            f"{_METRIC_TITLE} by source, with 95% intervals. In brackets: the number of questions.",
        ),
        "agreement": (
            plots.plot_agreement(report.agreement, names),
            f"Questions that exactly these systems have right under {_METRIC_TITLE}{only}.",
        ),
        "differences": (
            plots.plot_differences(kinds, {system.name: system.wrong for system in report.systems}),
            "Kinds of difference between wrong answers and gold; the numbers are counts of questions.",
        ),
    }
    return {key: _Figure(Markup(svg), caption) for key, (svg, caption) in drawn.items()}


def _agreement_table(report: Report) -> Table:
    total = len(report.summary.evaluation.gold.examples)
    rows = tuple(
        (" and ".join(each.systems) or "none", f"{each.questions:,}", f"{100 * each.questions / total:.1f}%")
        for each in report.agreement
    )
    return Table("Agreement", ("right", "questions", "share"), rows)


def _difference_table(report: Report) -> Table:
    columns = ("kind", "meaning", *(name for system in report.systems for name in (system.name, "of wrong")))
    rows = tuple(
        (str(kind), kind.meaning, *(cell for system in report.systems for cell in _kind_cells(system, kind)))
        for kind in DifferenceKind
    )
    return Table("Kinds of difference", columns, rows, text_columns=2)


def _kind_cells(system: SystemAnalysis, kind: DifferenceKind) -> tuple[str, str]:
    return f"{system.kinds[kind]:,}", f"{100 * system.kinds[kind] / max(system.wrong, 1):.1f}%"


def _confusion(system: SystemAnalysis) -> _Confusion:
    names = [*(operator.value for operator in Operator), NO_STEP]
    columns = _occurring(names, {predicted for _, predicted in system.confusion})
    rows = []
    for gold in _occurring(names, {gold for gold, _ in system.confusion}):
        counts = [system.confusion.get((gold, predicted), 0) for predicted in columns]
        total = sum(counts)
        cells = tuple(
            _ConfusionCell(count, count / total, gold == predicted)
            for predicted, count in zip(columns, counts, strict=True)
        )
        rows.append((gold, cells, total))
    return _Confusion(system.name, system.compared, columns, tuple(rows))


def _occurring(names: Sequence[str], found: set[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name in found)
