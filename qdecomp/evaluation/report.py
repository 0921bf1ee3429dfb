"""The comparison of systems on one page: everything besides the scores, and its files: JSON, CSV and the page."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from itertools import combinations, compress
from pathlib import Path
from typing import Any

from qdecomp.data_structures.errors import missing_extra
from qdecomp.data_structures.lf_em import METRIC_VERSION
from qdecomp.data_structures.operators import Operator
from qdecomp.evaluation.differences import NO_STEP, Analysis, DifferenceKind, analyse, operator_confusion
from qdecomp.evaluation.formats import format_score, problem_lines, score_tables
from qdecomp.evaluation.outputs import Summary, detail_lines, score_rows, summary_to_json
from qdecomp.evaluation.scoring import Evaluation, SystemScores
from qdecomp.evaluation.statistics import Group, Settings, places_by, score_groups
from qdecomp.files.atomic import write_folder_atomically
from qdecomp.files.break_csv import BreakExample
from qdecomp.terminal import Table, format_csv, progress
from qdecomp.version import VERSION
from qdecomp.visualization.assets import Html, render
from qdecomp.visualization.page import counted

# With more questions that systems differ on, the page would open slowly; the CSV file has them all.
_MOST_SHOWN = 3000
_EXAMPLES_OF_A_KIND = 3
# With more systems there are too many subsets to list those that never occur.
_MOST_SYSTEMS_WITH_ALL_SUBSETS = 6
# A score over fewer questions says little: fewer than these, or than this share of all.
_FEW_QUESTIONS = 25
_SMALL_SHARE = 0.02

REPORT_FILES = (
    "index.html",
    "report.json",
    "scores.schema.json",
    "scores.csv",
    "agreement.csv",
    "differences.csv",
    "operator_confusion.csv",
    "questions.csv",
)
"""The page and its data."""


@dataclass(frozen=True, slots=True)
class SystemAnalysis:
    """What kinds of differences a system's wrong answers have, with examples, and how it confuses operators."""

    name: str
    wrong: int
    kinds: Mapping[DifferenceKind, int]
    confusion: Mapping[tuple[str, str], int]
    compared: int
    """How many questions have logical forms on both sides, so that their operators can be compared."""
    examples: Mapping[DifferenceKind, tuple[Analysis, ...]]
    analyses: tuple[Analysis, ...]
    """For each question, in the gold file's order."""
    internal_errors: int
    """How many questions failed because of an internal error, in a metric or here."""


@dataclass(frozen=True, slots=True)
class Report:
    """An evaluation with everything that the page shows."""

    summary: Summary
    agreement: Mapping[tuple[str, ...], int]
    """How many questions exactly these systems have right, the largest subset first."""
    systems: tuple[SystemAnalysis, ...]
    by_length: tuple[Group, ...]
    """By number of gold steps; long questions share a group."""


def build_report(summary: Summary) -> Report:
    """Analyse an evaluation that has LF-EM among its metrics; the seed also chooses the examples."""
    evaluation, settings = summary.evaluation, summary.settings
    systems = tuple(_analyse_system(system, settings.seed) for system in evaluation.systems)
    return Report(summary, agreement(evaluation), systems, by_length(evaluation, settings))


def agreement(evaluation: Evaluation) -> dict[tuple[str, ...], int]:
    """For every subset of the systems, how many questions exactly these have right; an empty one: all are wrong.

    The counts add up to all questions. With more than six systems, subsets that never occur are left out.
    """
    names = [system.name for system in evaluation.systems]
    verdicts = zip(*(system.values("lf_em") > 0 for system in evaluation.systems), strict=True)
    counts = Counter(tuple(compress(names, row)) for row in verdicts)
    if len(names) <= _MOST_SYSTEMS_WITH_ALL_SUBSETS:
        for size in range(len(names) + 1):
            counts.update(dict.fromkeys(combinations(names, size), 0))
    return dict(sorted(counts.items(), key=lambda item: -item[1]))


def by_length(evaluation: Evaluation, settings: Settings) -> tuple[Group, ...]:
    """The scores by number of steps: ``1``, ``2`` and so on, and finally ``9+`` or the like for all that are longer."""
    steps = Counter(example.steps for example in evaluation.gold.examples)
    last = first_of_the_long(steps)
    places = places_by(min(example.steps, last) for example in evaluation.gold.examples)
    if last < max(steps):
        places[f"{last}+"] = places.pop(str(last))
    return score_groups(evaluation, places, settings)


def first_of_the_long(steps: Counter[int]) -> int:
    """The number of steps from which on all questions form one group: where single numbers become rare.

    >>> first_of_the_long(Counter({1: 5, 2: 900, 3: 700, 4: 80, 5: 12, 6: 9, 9: 1}))
    5
    >>> first_of_the_long(Counter({2: 900, 3: 12, 4: 300}))
    4
    """
    few = max(_FEW_QUESTIONS, _SMALL_SHARE * steps.total())
    lengths = sorted(steps)
    while len(lengths) > 1 and max(steps[lengths[-1]], steps[lengths[-2]]) < few:
        lengths.pop()
    return lengths[-1]


def _analyse_system(system: SystemScores, seed: int) -> SystemAnalysis:
    questions = progress(system.questions, f"Comparing {system.name}", len(system.questions))
    analyses = [analyse(question) for question in questions]
    counts = Counter(kind for analysis in analyses for kind in analysis.kinds)
    return SystemAnalysis(
        name=system.name,
        wrong=sum(bool(analysis.kinds) for analysis in analyses),
        kinds={kind: counts[kind] for kind in DifferenceKind},
        confusion=operator_confusion(analyses),
        compared=sum(analysis.steps.pairs is not None for analysis in analyses),
        examples={kind: _choose_examples(analyses, kind, seed) for kind in DifferenceKind},
        analyses=tuple(analyses),
        internal_errors=sum(
            analysis.internal_error is not None or analysis.question.has_internal_error for analysis in analyses
        ),
    )


def _choose_examples(analyses: Iterable[Analysis], kind: DifferenceKind, seed: int) -> tuple[Analysis, ...]:
    """Some random questions of a kind, preferably those that have no other kind, since they show it best."""
    candidates = [analysis for analysis in analyses if kind in analysis.kinds]
    random.Random(seed).shuffle(candidates)
    return tuple(sorted(candidates, key=lambda analysis: len(analysis.kinds))[:_EXAMPLES_OF_A_KIND])


def write_report(report: Report, folder: str | Path) -> None:
    """Write the page and its data to a folder, all or nothing."""
    contents = (
        render_page(report),
        json.dumps(report_to_json(report), ensure_ascii=False, indent=1) + "\n",
        files(__package__).joinpath("scores.schema.json").read_text(encoding="utf-8"),
        *_csv_files(report),
    )
    write_folder_atomically(folder, dict(zip(REPORT_FILES, contents, strict=True)))


def report_to_json(report: Report) -> dict[str, Any]:
    """The figures of the evaluation, and those of the report next to them."""
    total = len(report.summary.evaluation.gold.examples)
    return {
        **summary_to_json(report.summary),
        "agreement": [
            {"right": list(systems), "questions": questions, "share": questions / total}
            for systems, questions in report.agreement.items()
        ],
        "analyses": [_analysis_to_json(system) for system in report.systems],
    }


def _analysis_to_json(system: SystemAnalysis) -> dict[str, Any]:
    return {
        "name": system.name,
        "wrong": system.wrong,
        "differences": {str(kind): count for kind, count in system.kinds.items()},
        "compared": system.compared,
        "operator_confusion": [
            {"gold": gold, "predicted": predicted, "steps": count}
            for (gold, predicted), count in sorted(system.confusion.items())
        ],
        "examples": {
            str(kind): [_example_to_json(analysis) for analysis in analyses]
            for kind, analyses in system.examples.items()
        },
    }


def _example_to_json(analysis: Analysis) -> dict[str, Any]:
    example, meaning = analysis.question.example, analysis.question.results.get("lf_eq")
    return {
        "question_id": example.question_id,
        "question": example.question,
        "kinds": sorted(map(str, analysis.kinds)),
        "error": analysis.error,
        "gold": [asdict(step) for step in analysis.steps.gold],
        "prediction": [asdict(step) for step in analysis.steps.predicted],
        # What LF-Eq says, if it was asked for, with a world in which both sides differ.
        **({} if meaning is None else {"lf_eq": bool(meaning.value), "lf_eq_world": meaning.details.get("world")}),
    }


def _csv_files(report: Report) -> Iterator[str]:
    """The texts of the CSV files, in the order of :data:`REPORT_FILES`."""
    evaluation, systems = report.summary.evaluation, report.systems
    total = len(evaluation.gold.examples)
    yield format_csv(*score_rows(report.summary))
    subsets = ((" + ".join(right) or "none", count, count / total) for right, count in report.agreement.items())
    yield format_csv(("right", "questions", "share"), subsets)
    differences = [
        (each.name, kind, count, count / max(each.wrong, 1)) for each in systems for kind, count in each.kinds.items()
    ]
    yield format_csv(("system", "kind", "questions", "share_of_wrong"), differences)
    confusion = [(each.name, *pair, count) for each in systems for pair, count in sorted(each.confusion.items())]
    yield format_csv(("system", "gold", "predicted", "steps"), confusion)
    # The lines of details with the kinds of difference, without what is long.
    kinds = ("; ".join(sorted(map(str, each.kinds))) for system in systems for each in system.analyses)
    columns = ("system", "question_id", "steps", *(metric.field_name for metric in evaluation.metrics), "error")
    lines = zip(detail_lines(evaluation), kinds, strict=True)
    yield format_csv((*columns, "differences"), ([*(line[name] for name in columns), found] for line, found in lines))


def render_page(report: Report) -> str:
    """The report as one HTML page that needs nothing else; what comes from data is escaped."""
    try:
        figures = _figures(report)
    except ImportError:
        raise missing_extra("the report", "report") from None
    evaluation = report.summary.evaluation
    files = [(evaluation.gold.path, evaluation.gold.problems)]
    files += [(system.system.path, system.system.problems) for system in evaluation.systems]
    differing = disagreements([(system.name, system.analyses) for system in report.systems])
    return render(
        "report.html",
        __package__,
        report=report,
        gold=evaluation.gold,
        systems=evaluation.systems,
        problems=[line for path, problems in files for line in problem_lines(path, problems)],
        files=REPORT_FILES[1:],
        metrics=evaluation.metrics,
        format_score=format_score,
        shown=differing[:_MOST_SHOWN],
        differing=differing,
        tools=_tools(differing),
        version=VERSION,
        metric_version=METRIC_VERSION,
        tables={table.title: table for table in score_tables(report.summary)},
        figures={name: {"svg": Html(svg), "caption": caption} for name, (svg, caption) in figures.items()},
        agreement_table=_agreement_table(report),
        difference_table=_difference_table(report),
        confusions=[_confusion(system) for system in report.systems],
        kinds=list(DifferenceKind),
    )


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A question with every system's analysis, and the names of those that have it right."""

    place: int
    example: BreakExample
    right: tuple[str, ...]
    wrong: tuple[str, ...]
    right_key: str
    """The indices of the systems that have it right, as one word, since names may contain anything."""
    kinds: tuple[str, ...]
    """The kinds of difference of the systems that have it wrong."""
    analyses: tuple[tuple[str, Analysis], ...]


def disagreements(systems: Sequence[tuple[str, Sequence[Analysis]]]) -> list[Disagreement]:
    """All questions on which the systems' verdicts by LF-EM differ, in the gold file's order."""
    names = [name for name, _ in systems]
    found = []
    for place, same in enumerate(zip(*(analyses for _, analyses in systems), strict=True), start=1):
        verdicts = [bool(analysis.question.results["lf_em"].value) for analysis in same]
        if len(set(verdicts)) > 1:
            right = tuple(compress(names, verdicts))
            wrong = tuple(name for name in names if name not in right)
            key = ",".join(str(index) for index, verdict in enumerate(verdicts) if verdict)
            kinds = tuple(sorted({str(kind) for analysis in same for kind in analysis.kinds}))
            analyses = tuple(zip(names, same, strict=True))
            found.append(Disagreement(place, same[0].question.example, right, wrong, key, kinds, analyses))
    return found


def _tools(differing: Sequence[Disagreement]) -> str:
    """Filters for the questions on which systems differ."""
    names = {
        each.right_key: f"{' and '.join(each.right)} right, {' and '.join(each.wrong)} wrong" for each in differing
    }
    filters = (
        counted("right", "Right", (each.right_key for each in differing), names.__getitem__),
        counted("source", "Source", (each.example.source for each in differing)),
        counted("kinds", "Kind of difference", (kind for each in differing for kind in each.kinds)),
        counted("steps", "Steps", (each.example.steps for each in differing)),
    )
    orders = {
        "place": "as in the file",
        "source": "source",
        "steps": "fewest steps first",
        "-steps": "most steps first",
    }
    return render("tools.html", filters=filters, orders=orders, with_pictures=False)


def _figures(report: Report) -> dict[str, tuple[str, str]]:
    """The figures as SVG, with their captions."""
    from qdecomp.evaluation import plots

    systems, subsets = report.systems, len(report.agreement)
    only = f": the {plots.SUBSETS_SHOWN} largest of {subsets} subsets" if subsets > plots.SUBSETS_SHOWN else ""
    return {
        "steps": (
            plots.plot_by_steps(report.by_length, "lf_em", "LF-EM"),
            "LF-EM by number of gold steps, with 95% intervals; below, how many questions have that many.",
        ),
        "source": (
            plots.plot_by_source(report.summary.by_source, "lf_em", "LF-EM"),
            "LF-EM by source, with 95% intervals. In brackets: the number of questions.",
        ),
        "agreement": (
            plots.plot_agreement(report.agreement, [system.name for system in systems]),
            f"Questions that exactly these systems have right under LF-EM{only}.",
        ),
        "differences": (
            plots.plot_differences(
                {system.name: system.kinds for system in systems}, {system.name: system.wrong for system in systems}
            ),
            "Kinds of difference between wrong answers and gold: questions, and their share of the wrong answers.",
        ),
    }


def _agreement_table(report: Report) -> Table:
    total = len(report.summary.evaluation.gold.examples)
    rows = tuple(
        (" and ".join(systems) or "none", f"{questions:,}", f"{100 * questions / total:.1f}%")
        for systems, questions in report.agreement.items()
    )
    return Table("Agreement", ("right", "questions", "share"), rows)


def _difference_table(report: Report) -> Table:
    columns, rows = ["kind", "meaning"], [[str(kind), kind.meaning] for kind in DifferenceKind]
    for system in report.systems:
        columns += [system.name, "of wrong"]
        for row, count in zip(rows, system.kinds.values(), strict=True):
            row += [f"{count:,}", f"{100 * count / max(system.wrong, 1):.1f}%"]
    return Table("Kinds of difference", tuple(columns), tuple(map(tuple, rows)), text_columns=2)


def _confusion(system: SystemAnalysis) -> dict[str, Any]:
    """A row of cells for each gold operator that occurs, with the row's sum."""
    names = [*(operator.value for operator in Operator), NO_STEP]
    columns, golds = ([name for name in names if name in {pair[side] for pair in system.confusion}] for side in (1, 0))
    rows = []
    for gold in golds:
        counts = [system.confusion.get((gold, predicted), 0) for predicted in columns]
        cells = [
            {"count": count, "share": count / sum(counts), "is_agreement": gold == predicted}
            for predicted, count in zip(columns, counts, strict=True)
        ]
        rows.append((gold, cells, sum(counts)))
    return {"system": system.name, "compared": system.compared, "columns": columns, "rows": rows}
