"""Everything in a comparison of systems besides its scores, and its files: JSON, CSV and the page."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from qdecomp.evaluation.agreement import Agreement, agreement
from qdecomp.evaluation.breakdown import Group
from qdecomp.evaluation.differences import Analysis, DifferenceKind, analyse, operator_confusion
from qdecomp.evaluation.report.length_bins import by_length
from qdecomp.evaluation.score_outputs import Summary, detail_lines, summarize, summary_to_json
from qdecomp.evaluation.scoring import Evaluation, SystemScores, field_name, has_mistake
from qdecomp.files import require_replaceable_folder, write_folder_atomically
from qdecomp.terminal import format_csv, progress

__all__ = [
    "REPORT_FILES",
    "Report",
    "SystemAnalysis",
    "build_report",
    "check_report_folder",
    "report_to_json",
    "write_report",
]

_EXAMPLES_OF_A_KIND = 3
REPORT_FILES = (
    "index.html",
    "report.json",
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
    mistakes: int = 0
    """How many questions failed because of a mistake in the code, in a metric or here."""


@dataclass(frozen=True, slots=True)
class Report:
    """An evaluation with everything that the page shows."""

    summary: Summary
    agreement: tuple[Agreement, ...]
    systems: tuple[SystemAnalysis, ...]
    by_length: tuple[tuple[Group, ...], ...] = ()
    """The scores of each system by number of gold steps; long questions share a group."""


def build_report(evaluation: Evaluation, *, seed: int = 0) -> Report:
    """Analyse an evaluation that has LF-EM among its metrics; the seed also chooses the examples."""
    return Report(
        summary=summarize(evaluation, seed=seed),
        agreement=agreement(evaluation),
        systems=tuple(_analyse_system(system, seed) for system in evaluation.systems),
        by_length=by_length(evaluation, seed=seed),
    )


def _analyse_system(system: SystemScores, seed: int) -> SystemAnalysis:
    questions = progress(system.questions, f"Comparing {system.name}", len(system.questions))
    analyses = [analyse(question) for question in questions]
    counts = Counter(kind for analysis in analyses for kind in analysis.kinds)
    return SystemAnalysis(
        name=system.name,
        wrong=sum(bool(analysis.kinds) for analysis in analyses),
        kinds={kind: counts[kind] for kind in DifferenceKind},
        confusion=operator_confusion(analyses),
        compared=sum(analysis.alignment is not None for analysis in analyses),
        examples={kind: _choose_examples(analyses, kind, seed) for kind in DifferenceKind},
        analyses=tuple(analyses),
        mistakes=sum(analysis.mistake is not None or has_mistake(analysis.question) for analysis in analyses),
    )


def _choose_examples(analyses: Iterable[Analysis], kind: DifferenceKind, seed: int) -> tuple[Analysis, ...]:
    """Some random questions of a kind, preferably those that have no other kind, since they show it best."""
    candidates = [analysis for analysis in analyses if kind in analysis.kinds]
    random.Random(seed).shuffle(candidates)
    candidates.sort(key=lambda analysis: len(analysis.kinds))
    return tuple(candidates[:_EXAMPLES_OF_A_KIND])


def check_report_folder(folder: str | Path) -> None:
    """Raise early if a report cannot be written there, so that nobody waits in vain."""
    require_replaceable_folder(folder, REPORT_FILES)


def write_report(report: Report, folder: str | Path) -> None:
    """Write the page and its data to a folder, all or nothing."""
    from qdecomp.evaluation.report.report_page import render_page

    contents = (
        render_page(report),
        json.dumps(report_to_json(report), ensure_ascii=False, indent=1) + "\n",
        *_csv_files(report),
    )
    write_folder_atomically(folder, dict(zip(REPORT_FILES, contents, strict=True)))


def report_to_json(report: Report) -> dict[str, Any]:
    """The figures of the evaluation, and those of the report next to them."""
    total = len(report.summary.evaluation.gold.examples)
    return {
        **summary_to_json(report.summary),
        "agreement": [
            {"right": list(each.systems), "questions": each.questions, "share": each.questions / total}
            for each in report.agreement
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
    return {
        "question_id": analysis.question.example.question_id,
        "question": analysis.question.example.question,
        "kinds": sorted(str(kind) for kind in analysis.kinds),
        "error": analysis.error,
        "gold": [asdict(step) for step in analysis.gold],
        "prediction": [asdict(step) for step in analysis.predicted],
        **_meaning_to_json(analysis),
    }


def _meaning_to_json(analysis: Analysis) -> dict[str, Any]:
    """What LF-Eq says, if it was asked for, with a world in which both sides differ."""
    result = analysis.question.results.get("lf_eq")
    return {} if result is None else {"lf_eq": bool(result.value), "lf_eq_world": result.details.get("world")}


def _csv_files(report: Report) -> tuple[str, ...]:
    """The texts of the CSV files, in the order of :data:`REPORT_FILES`."""
    total = len(report.summary.evaluation.gold.examples)
    scores = format_csv(
        ("system", "part", "group", "questions", "metric", "mean", "low", "high", "scored", "errors"),
        _score_rows(report.summary),
    )
    subsets = format_csv(
        ("right", "questions", "share"),
        ((" + ".join(each.systems) or "none", each.questions, each.questions / total) for each in report.agreement),
    )
    differences = format_csv(
        ("system", "kind", "questions", "share_of_wrong"),
        (
            (system.name, kind, count, count / max(system.wrong, 1))
            for system in report.systems
            for kind, count in system.kinds.items()
        ),
    )
    confusion = format_csv(
        ("system", "gold", "predicted", "steps"),
        (
            (system.name, gold, predicted, count)
            for system in report.systems
            for (gold, predicted), count in sorted(system.confusion.items())
        ),
    )
    return scores, subsets, differences, confusion, _questions_csv(report)


def _score_rows(summary: Summary) -> Iterable[Sequence[object]]:
    for system, breakdown in zip(summary.evaluation.systems, summary.breakdowns, strict=True):
        parts = (("all", (breakdown.overall,)), ("source", breakdown.by_source), ("steps", breakdown.by_steps))
        for part, groups in parts:
            for group in groups:
                for metric in summary.evaluation.metrics:
                    score = group.scores[metric.name]
                    figures = (score.mean, score.low, score.high, score.questions, score.errors)
                    yield system.name, part, group.name, group.questions, field_name(metric), *figures


def _questions_csv(report: Report) -> str:
    """The lines of details with the kinds of difference, without what is long."""
    kinds = (analysis.kinds for system in report.systems for analysis in system.analyses)
    metrics = [field_name(metric) for metric in report.summary.evaluation.metrics]
    columns = ("system", "question_id", "steps", *metrics, "error")
    rows = (
        [*(line[column] for column in columns), "; ".join(sorted(str(kind) for kind in of_question))]
        for line, of_question in zip(detail_lines(report.summary.evaluation), kinds, strict=True)
    )
    return format_csv((*columns, "differences"), rows)
