"""The report as one HTML page that needs nothing else: no network, its one script inlined, figures as inline SVG."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

from qdecomp.data_structures.errors import missing_extra
from qdecomp.data_structures.lf_em import METRIC_VERSION
from qdecomp.data_structures.operators import Operator
from qdecomp.evaluation.differences import NO_STEP, Analysis, DifferenceKind
from qdecomp.evaluation.metrics import METRICS
from qdecomp.evaluation.outputs import format_score, problem_lines, score_tables
from qdecomp.evaluation.report import REPORT_FILES, Report, SystemAnalysis
from qdecomp.files.break_csv import BreakExample
from qdecomp.terminal import Table
from qdecomp.version import VERSION
from qdecomp.visualization.assets import content_policy, page_script, style
from qdecomp.visualization.page import Filter, tools_html

if TYPE_CHECKING:
    from markupsafe import Markup

_METRIC = "lf_em"
_METRIC_TITLE = "LF-EM"
# With more questions, the page would open slowly; the CSV file has them all.
MOST_SHOWN = 3000


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
        overall=(report.summary.overall,),
        by_source=report.by_source,
        by_length=report.by_length,
        metrics=evaluation.metrics,
        format_score=format_score,
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


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A question with every system's analysis, and the names of those that have it right."""

    place: int
    example: BreakExample
    right: tuple[str, ...]
    wrong: tuple[str, ...]
    analyses: tuple[tuple[str, Analysis], ...]

    @property
    def right_key(self) -> str:
        """The indices of the systems that have it right, as one word, since names may contain anything."""
        return ",".join(str(place) for place, (name, _) in enumerate(self.analyses) if name in self.right)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of difference of the systems that have it wrong."""
        return tuple(sorted({str(kind) for _, analysis in self.analyses for kind in analysis.kinds}))

    @property
    def steps(self) -> int:
        """How many steps gold has."""
        return self.example.steps


def disagreements(systems: Sequence[tuple[str, Sequence[Analysis]]], metric: str = "lf_em") -> list[Disagreement]:
    """All questions on which the systems' verdicts differ, in the gold file's order."""
    names = [name for name, _ in systems]
    found = []
    for place, same in enumerate(zip(*(analyses for _, analyses in systems), strict=True), start=1):
        verdicts = [bool(analysis.question.results[metric].value) for analysis in same]
        if len(set(verdicts)) == 1:
            continue
        right = tuple(name for name, verdict in zip(names, verdicts, strict=True) if verdict)
        wrong = tuple(name for name, verdict in zip(names, verdicts, strict=True) if not verdict)
        found.append(Disagreement(place, same[0].question.example, right, wrong, tuple(zip(names, same, strict=True))))
    return found


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


def _figures(report: Report) -> dict[str, dict[str, Any]]:
    from markupsafe import Markup

    from qdecomp.evaluation import plots

    names = [system.name for system in report.systems]
    kinds: Mapping[str, Mapping[DifferenceKind, int]] = {system.name: system.kinds for system in report.systems}
    subsets = len(report.agreement)
    only = f": the {plots.SUBSETS_SHOWN} largest of {subsets} subsets" if subsets > plots.SUBSETS_SHOWN else ""
    drawn = {
        "steps": (
            plots.plot_by_steps(report.by_length, _METRIC, _METRIC_TITLE),
            f"{_METRIC_TITLE} by number of gold steps, with 95% intervals; below, how many questions have that many.",
        ),
        "source": (
            plots.plot_by_source(report.by_source, _METRIC, _METRIC_TITLE),
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
    return {key: {"svg": Markup(svg), "caption": caption} for key, (svg, caption) in drawn.items()}


def _agreement_table(report: Report) -> Table:
    total = len(report.summary.evaluation.gold.examples)
    rows = tuple(
        (" and ".join(systems) or "none", f"{questions:,}", f"{100 * questions / total:.1f}%")
        for systems, questions in report.agreement.items()
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


def _confusion(system: SystemAnalysis) -> dict[str, Any]:
    """A row of cells for each gold operator that occurs, with the row's sum."""
    names = [*(operator.value for operator in Operator), NO_STEP]
    columns = _occurring(names, {predicted for _, predicted in system.confusion})
    rows = []
    for gold in _occurring(names, {gold for gold, _ in system.confusion}):
        counts = [system.confusion.get((gold, predicted), 0) for predicted in columns]
        total = sum(counts)
        cells = [
            {"count": count, "share": count / total, "is_agreement": gold == predicted}
            for predicted, count in zip(columns, counts, strict=True)
        ]
        rows.append((gold, cells, total))
    return {"system": system.name, "compared": system.compared, "columns": columns, "rows": rows}


def _occurring(names: Sequence[str], found: set[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name in found)
