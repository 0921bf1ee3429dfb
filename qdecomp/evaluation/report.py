"""The comparison of systems on one page: everything besides the scores, and its files, JSON, CSV and the page."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from importlib.resources import files
from itertools import combinations
from pathlib import Path
from typing import Any

from qdecomp.evaluation.differences import Analysis, DifferenceKind, analyse, operator_confusion
from qdecomp.evaluation.outputs import Summary, detail_lines, score_rows, summarize, summary_to_json
from qdecomp.evaluation.scoring import Evaluation, SystemScores
from qdecomp.evaluation.signature import Settings
from qdecomp.evaluation.statistics import Group, Sampling, places_by, score_groups
from qdecomp.files.atomic import write_folder_atomically
from qdecomp.terminal import format_csv, progress

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
    internal_errors: int = 0
    """How many questions failed because of an internal error, in a metric or here."""


@dataclass(frozen=True, slots=True)
class Report:
    """An evaluation with everything that the page shows."""

    summary: Summary
    agreement: Mapping[tuple[str, ...], int]
    """How many questions exactly these systems have right, the largest subset first."""
    systems: tuple[SystemAnalysis, ...]
    by_source: tuple[Group, ...]
    by_length: tuple[Group, ...]
    """By number of gold steps; long questions share a group."""


def build_report(evaluation: Evaluation, settings: Settings = Settings()) -> Report:  # noqa: B008 (it is frozen)
    """Analyse an evaluation that has LF-EM among its metrics; the seed also chooses the examples."""
    sampling = settings.sampling
    sources = places_by(example.source for example in evaluation.gold.examples)
    return Report(
        summary=summarize(evaluation, settings),
        agreement=agreement(evaluation),
        systems=tuple(_analyse_system(system, sampling.seed) for system in evaluation.systems),
        by_source=score_groups(evaluation, sources, sampling=sampling),
        by_length=by_length(evaluation, sampling),
    )


def agreement(evaluation: Evaluation, metric: str = "lf_em") -> dict[tuple[str, ...], int]:
    """For every subset of the systems, how many questions exactly these have right; an empty one: all are wrong.

    The counts add up to all questions. With more than six systems, subsets that never occur are left out.
    """
    names = [system.name for system in evaluation.systems]
    rows = zip(*(system.questions for system in evaluation.systems), strict=True)
    counts = Counter(
        tuple(name for name, question in zip(names, row, strict=True) if question.results[metric].value) for row in rows
    )
    if len(names) <= _MOST_SYSTEMS_WITH_ALL_SUBSETS:
        for size in range(len(names) + 1):
            counts.update(dict.fromkeys(combinations(names, size), 0))
    return dict(sorted(counts.items(), key=lambda item: -item[1]))


def by_length(evaluation: Evaluation, sampling: Sampling) -> tuple[Group, ...]:
    """The scores by number of steps: ``1``, ``2`` and so on, and finally ``9+`` or the like for all that are longer."""
    steps = Counter(example.steps for example in evaluation.gold.examples)
    last = first_of_the_long(steps)
    places = places_by(min(example.steps, last) for example in evaluation.gold.examples)
    if last < max(steps):
        places[f"{last}+"] = places.pop(str(last))
    return score_groups(evaluation, places, sampling=sampling)


def first_of_the_long(steps: Counter[int]) -> int:
    """The number of steps from which on all questions form one group: where single numbers become rare.

    >>> first_of_the_long(Counter({1: 5, 2: 900, 3: 700, 4: 80, 5: 12, 6: 9, 9: 1}))
    5
    >>> first_of_the_long(Counter({2: 900, 3: 12, 4: 300}))
    4
    """
    few = max(_FEW_QUESTIONS, _SMALL_SHARE * steps.total())
    longest = max(steps)
    while longest > min(steps) and max(steps[longest], steps[_next_below(steps, longest)]) < few:
        longest = _next_below(steps, longest)
    return longest


def _next_below(steps: Counter[int], number: int) -> int:
    return max(each for each in steps if each < number)


def _analyse_system(system: SystemScores, seed: int) -> SystemAnalysis:
    questions = progress(system.questions, f"Comparing {system.name}", len(system.questions))
    analyses = [analyse(question) for question in questions]
    counts = Counter(kind for analysis in analyses for kind in analysis.kinds)
    return SystemAnalysis(
        name=system.name,
        wrong=sum(bool(analysis.kinds) for analysis in analyses),
        kinds={kind: counts[kind] for kind in DifferenceKind},
        confusion=operator_confusion(analyses),
        compared=sum(analysis.steps.alignment is not None for analysis in analyses),
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
    candidates.sort(key=lambda analysis: len(analysis.kinds))
    return tuple(candidates[:_EXAMPLES_OF_A_KIND])


def write_report(report: Report, folder: str | Path) -> None:
    """Write the page and its data to a folder, all or nothing."""
    from qdecomp.evaluation.report_page import render_page

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
    return {
        "question_id": analysis.question.example.question_id,
        "question": analysis.question.example.question,
        "kinds": sorted(str(kind) for kind in analysis.kinds),
        "error": analysis.error,
        "gold": [asdict(step) for step in analysis.steps.gold],
        "prediction": [asdict(step) for step in analysis.steps.predicted],
        **_meaning_to_json(analysis),
    }


def _meaning_to_json(analysis: Analysis) -> dict[str, Any]:
    """What LF-Eq says, if it was asked for, with a world in which both sides differ."""
    result = analysis.question.results.get("lf_eq")
    return {} if result is None else {"lf_eq": bool(result.value), "lf_eq_world": result.details.get("world")}


def _csv_files(report: Report) -> tuple[str, ...]:
    """The texts of the CSV files, in the order of :data:`REPORT_FILES`."""
    total = len(report.summary.evaluation.gold.examples)
    scores = format_csv(*score_rows(report.summary))
    subsets = format_csv(
        ("right", "questions", "share"),
        (
            (" + ".join(systems) or "none", questions, questions / total)
            for systems, questions in report.agreement.items()
        ),
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


def _questions_csv(report: Report) -> str:
    """The lines of details with the kinds of difference, without what is long."""
    kinds = (analysis.kinds for system in report.systems for analysis in system.analyses)
    metrics = [metric.field_name for metric in report.summary.evaluation.metrics]
    columns = ("system", "question_id", "steps", *metrics, "error")
    rows = (
        [*(line[column] for column in columns), "; ".join(sorted(str(kind) for kind in of_question))]
        for line, of_question in zip(detail_lines(report.summary.evaluation), kinds, strict=True)
    )
    return format_csv((*columns, "differences"), rows)
