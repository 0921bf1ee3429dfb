"""The report as one HTML page that needs nothing else: no network, its one script inlined, figures as inline SVG."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

from qdecomp.data_structures.errors import missing_extra
from qdecomp.data_structures.lf_em import METRIC_VERSION
from qdecomp.data_structures.operators import Operator
from qdecomp.evaluation.differences import NO_STEP, Analysis, DifferenceKind
from qdecomp.evaluation.metrics.metric_table import METRICS
from qdecomp.evaluation.report.best_values import SystemRow, system_rows
from qdecomp.evaluation.report.disagreements import MOST_SHOWN, Disagreement, disagreements
from qdecomp.evaluation.report.reasons import error_reasons
from qdecomp.evaluation.report.report_contents import REPORT_FILES
from qdecomp.evaluation.score_tables import problem_lines, score_tables
from qdecomp.terminal import Table
from qdecomp.version import VERSION
from qdecomp.visualization.page_scripts import content_policy, page_script
from qdecomp.visualization.page_tools import Filter, tools_html
from qdecomp.visualization.style_sheets import style

if TYPE_CHECKING:
    from markupsafe import Markup

    from qdecomp.evaluation.report.report_contents import Report, SystemAnalysis

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
        from markupsafe import Markup

        figures = _figures(report)
    except ImportError:
        raise missing_extra("the report", "report") from None
    template, styles = (_template_file(name) for name in ("report.html", "report.css"))
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    tables = {table.title: table for table in score_tables(report.summary)}
    evaluation = report.summary.evaluation
    differing = disagreements([(system.name, system.analyses) for system in report.systems])
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
        page=_page_parts(styles),
        files=REPORT_FILES[1:],
        score_rows=_score_rows(report),
        reasons=error_reasons(evaluation),
        has_errors="Errors by reason" in tables,
        shown=differing[:MOST_SHOWN],
        differing=differing,
        tools=Markup(_tools(differing)),
        evidence=_evidence,
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


def _template_file(name: str) -> str:
    return resources.files(__package__).joinpath("templates", name).read_text(encoding="utf-8")


def _page_parts(styles: str) -> dict[str, Markup]:
    """What the page shares with other pages, ready to be written."""
    from markupsafe import Markup

    parts = {"policy": content_policy(), "style": f"{style('tools')}<style>{styles}</style>", "script": page_script()}
    return {name: Markup(part) for name, part in parts.items()}


def _score_rows(report: Report) -> dict[str, tuple[SystemRow, ...]]:
    metrics = report.summary.evaluation.metrics
    breakdowns = report.summary.breakdowns
    return {
        "all": system_rows([(each.overall,) for each in breakdowns], metrics),
        "steps": system_rows(report.by_length, metrics),
        "source": system_rows([each.by_source for each in breakdowns], metrics),
    }


def _tools(differing: Sequence[Disagreement]) -> str:
    """Filters for the questions on which systems differ."""
    rights = Counter(each.right_key for each in differing)
    names = {
        each.right_key: f"{' and '.join(each.right)} right, {' and '.join(each.wrong)} wrong" for each in differing
    }
    kinds = Counter(kind for each in differing for kind in each.kinds)
    sources = Counter(each.example.source for each in differing)
    steps = Counter(each.steps for each in differing)
    filters = (
        Filter("right", "Right", [(right, f"{names[right]} ({rights[right]:,})") for right in sorted(rights)]),
        Filter("source", "Source", [(name, f"{name} ({sources[name]:,})") for name in sorted(sources)]),
        Filter("kinds", "Kind of difference", [(kind, f"{kind} ({kinds[kind]:,})") for kind in sorted(kinds)]),
        Filter("steps", "Steps", [(str(number), f"{number} ({steps[number]:,})") for number in sorted(steps)]),
    )
    orders = {
        "place": "as in the file",
        "source": "source",
        "steps": "fewest steps first",
        "-steps": "most steps first",
    }
    return tools_html(filters, orders, with_pictures=False)


def _evidence(analysis: Analysis) -> list[tuple[str, tuple[str, ...]]]:
    """What metrics base their verdict on: the lines under ``evidence`` in the details of a result."""
    return [
        (METRICS[name].title if name in METRICS else name, tuple(map(str, lines)))
        for name, result in analysis.question.results.items()
        if (lines := result.details.get("evidence"))
    ]


def _figures(report: Report) -> dict[str, _Figure]:
    from markupsafe import Markup

    from qdecomp.evaluation.report import plots

    names = [system.name for system in report.systems]
    breakdowns = report.summary.breakdowns
    by_steps = dict(zip(names, report.by_length, strict=True))
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
            "Kinds of difference between wrong answers and gold: questions, and their share of the wrong answers.",
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
