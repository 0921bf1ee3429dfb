"""The figures of an evaluation as JSON and as tables, a line of details for each question, and notes on the files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Any

from qdecomp.data_structures.lf_em import METRIC_VERSION
from qdecomp.data_structures.reading import BREAK_FORM, Reading
from qdecomp.evaluation.metrics import Metric, MetricResult
from qdecomp.evaluation.predictions import RowProblem
from qdecomp.evaluation.scoring import Evaluation, QuestionScores, SystemScores
from qdecomp.evaluation.signature import Settings, signature
from qdecomp.evaluation.statistics import ALL, CONFIDENCE, LEVEL, Group, Score, places_by, score_groups
from qdecomp.terminal import Table
from qdecomp.version import VERSION

SCHEMA_VERSION = 1
"""The version of the JSON that ``scores.schema.json`` describes."""

_PROBLEMS_SHOWN = 5
_REASONS_SHOWN = 12
_WORDS_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Summary:
    """The figures of an evaluation: on all questions, and on those of each group."""

    evaluation: Evaluation
    overall: Group
    by_source: tuple[Group, ...]
    by_steps: tuple[Group, ...]
    by_group: tuple[Group, ...]
    settings: Settings


def summarize(evaluation: Evaluation, settings: Settings = Settings()) -> Summary:  # noqa: B008 (it is frozen)
    """Aggregate the scores; groups that were asked for are tested, too."""
    sampling, gold = settings.sampling, evaluation.gold
    (overall,) = score_groups(evaluation, {"all": ALL}, sampling=sampling)
    by_source, by_steps = (
        score_groups(evaluation, places_by(map(attrgetter(key), gold.examples)), sampling=sampling, tested=False)
        for key in ("source", "steps")
    )
    by_group = score_groups(evaluation, places_by(gold.groups), sampling=sampling) if gold.groups else ()
    return Summary(evaluation, overall, by_source, by_steps, by_group, settings)


def summary_to_json(summary: Summary) -> dict[str, Any]:
    """A value for ``json.dumps`` with all figures, the problems of rows and the metric's version."""
    evaluation = summary.evaluation
    fields = {metric.name: metric.field_name for metric in evaluation.metrics}
    return {
        "schema": SCHEMA_VERSION,
        "qdecomp_version": VERSION,
        "metric_version": METRIC_VERSION,
        "gold": str(evaluation.gold.path),
        "questions": len(evaluation.gold.examples),
        "gold_problems": _problems_to_json(evaluation.gold.problems),
        "interval": {"confidence": CONFIDENCE, "method": "bootstrap", **asdict(summary.settings.sampling)},
        "read": str(summary.settings.read),
        "answered_only": summary.settings.answered_only,
        "metrics": [
            {
                "name": metric.field_name,
                "title": metric.title,
                "lower_is_better": metric.lower_is_better,
                "version": metric.version,
                "best": summary.overall.best(metric),
            }
            for metric in evaluation.metrics
        ],
        "systems": [_system_to_json(system, summary) for system in evaluation.systems],
        "comparisons": [asdict(each) | {"metric": fields[each.metric]} for each in summary.overall.comparisons],
    }


def _system_to_json(system: SystemScores, summary: Summary) -> dict[str, Any]:
    metrics = summary.evaluation.metrics

    def figures(group: Group) -> dict[str, Any]:
        scores = group.scores[system.name]
        return {"questions": group.questions} | {each.field_name: asdict(scores[each.name]) for each in metrics}

    return {
        "name": system.name,
        "predictions": str(system.system.path),
        "rows": system.system.rows,
        "problem_counts": _problem_counts(system.system.problems),
        "problems": _problems_to_json(system.system.problems),
        "overall": figures(summary.overall),
        "by_source": {group.name: figures(group) for group in summary.by_source},
        "by_steps": {group.name: figures(group) for group in summary.by_steps},
        "by_group": {group.name: figures(group) for group in summary.by_group},
        "signatures": {
            each.field_name: signature(each, summary.overall.scores[system.name][each.name], summary.settings)
            for each in metrics
        },
        "errors": {metric.field_name: system.columns.error_counts(metric.name) for metric in metrics},
    }


def _problem_counts(problems: Sequence[RowProblem]) -> dict[str, int]:
    return dict(Counter(str(problem.kind) for problem in problems))


def _problems_to_json(problems: Iterable[RowProblem]) -> list[dict[str, Any]]:
    return [asdict(problem) | {"kind": str(problem.kind)} for problem in problems]


def detail_lines(evaluation: Evaluation) -> Iterator[dict[str, Any]]:
    """One value for each system and question, system by system in the gold file's order.

    The evaluation must have kept its questions.
    """
    for system in evaluation.systems:
        for question in system.questions:
            yield detail_line(system.name, question, evaluation.metrics)


def detail_line(system: str, question: QuestionScores, metrics: Sequence[Metric]) -> dict[str, Any]:
    """The results for a question with its texts, a value for ``json.dumps``."""
    results = question.results
    errors = {metric.field_name: error for metric in metrics if (error := results[metric.name].error) is not None}
    normalised: Mapping[str, Any] = results["lf_em"].details if "lf_em" in results else {}
    world = {"lf_eq_world": results["lf_eq"].details.get("world")} if "lf_eq" in results else {}
    return {
        "system": system,
        "question_id": question.example.question_id,
        **{metric.field_name: _plain_value(metric, results[metric.name]) for metric in metrics},
        "error": errors.get("lf_em") if "lf_em" in results else next(iter(errors.values()), None),
        "errors": errors,
        "gold_normalized": normalised.get("gold_normalized"),
        "prediction_normalized": normalised.get("prediction_normalized"),
        **world,
        "steps": question.example.steps,
        "question": question.example.question,
        "gold": question.example.decomposition,
        "prediction": question.prediction.text,
        "prediction_form": None if question.prediction.reading is None else question.prediction.reading.form,
    }


def _plain_value(metric: Metric, result: MetricResult) -> bool | float | None:
    if result.value is None:
        return None
    return bool(result.value) if metric.is_verdict else result.value


def problem_lines(path: Path, problems: Sequence[RowProblem]) -> list[str]:
    """The problems of a file in words: how many of a kind, and the first of each by row number."""
    lines = []
    for kind, count in _problem_counts(problems).items():
        lines.append(f"{path}: {count:,} {kind} {'row' if count == 1 else 'rows'}")
        shown = list(islice((problem for problem in problems if str(problem.kind) == kind), _PROBLEMS_SHOWN))
        lines += [_in_words(problem) for problem in shown]
        if count > len(shown):
            lines.append(f"  … and {count - len(shown):,} more")
    return lines


def _in_words(problem: RowProblem) -> str:
    row = f"row {problem.row} of the gold file" if problem.kind.in_gold else f"row {problem.row}"
    question = f" ({problem.question_id})" if problem.question_id else ""
    return f"  {row}{question}: {problem.message}"


def reading_lines(path: Path, readings: Iterable[Reading]) -> list[str]:
    """The forms that were found, if they are not Break's text, and a warning if most look misread."""
    forms: Counter[str] = Counter()
    doubtful = 0
    first: Reading | None = None
    for reading in readings:
        forms[reading.form] += 1
        if reading.doubt is not None:
            doubtful += 1
            first = first or reading
    lines = []
    if set(forms) - {BREAK_FORM}:
        found = ", ".join(f"{count:,} as {form}" for form, count in forms.most_common())
        lines.append(f"{path}: predictions were read by their form: {found}")
    if first is not None and 2 * doubtful > forms.total():
        words = " ".join(first.text.split()[:_WORDS_SHOWN])
        lines.append(
            f"{path}: warning: {doubtful:,} of {forms.total():,} predictions do not look like decompositions; "
            f"of the first, {first.doubt}: {words!r} … Is this the right file or column? "
            "qdecomp prompt prints a prompt that makes a model write steps that can be read"
        )
    return lines


def score_tables(summary: Summary) -> list[Table]:
    """The figures as tables: scores, by source, by number of steps, errors by reason, and the paired tests."""
    metrics = summary.evaluation.metrics
    heads = ("questions", *(metric.head for metric in metrics))
    note = f"Percent, with {CONFIDENCE:.0%} bootstrap intervals.{_unscored_note(summary)}"
    overall = tuple(row[1:] for row in _rows(summary.overall, metrics))
    tables = [Table("Scores", ("system", *heads), overall, note=f"{note}{best_note(summary)}")]
    for title, head, groups in (
        ("By group", "group", summary.by_group),
        ("By source", "source", summary.by_source),
        ("By number of gold steps", "steps", summary.by_steps),
    ):
        if not groups:
            continue
        rows = tuple(row for group in groups for row in _rows(group, metrics))
        tables.append(Table(title, (head, "system", *heads), rows, text_columns=2))
    signatures = Table("Signatures", ("system", "to cite"), tuple(signature_rows(summary)), text_columns=2)
    return [*tables, *_error_tables(summary), *_comparison_tables(summary), signatures]


def signature_rows(summary: Summary, *, short: bool = False) -> Iterator[tuple[str, str]]:
    """Each system with the line to cite for each of its scores."""
    for name, scores in summary.overall.scores.items():
        for metric in summary.evaluation.metrics:
            score = scores[metric.name]
            yield name, f"{signature(metric, score, summary.settings, short=short)} = {format_score(score)}"


def score_rows(summary: Summary) -> tuple[tuple[str, ...], Iterator[tuple[object, ...]]]:
    """The columns and rows of a table with a row for each system, group of questions and metric."""
    parts = {"all": (summary.overall,), "group": summary.by_group, "source": summary.by_source}
    columns = ("system", "part", "group", "questions", "metric", "mean", "low", "high", "scored", "errors", "best")
    return (*columns, "signature"), (
        (
            *(system, part, group.name, group.questions, metric.field_name, *astuple(score)),
            *(group.best(metric) == system, signature(metric, score, summary.settings)),
        )
        for system in summary.overall.scores
        for part, groups in {**parts, "steps": summary.by_steps}.items()
        for group in groups
        for metric in summary.evaluation.metrics
        for score in (group.scores[system][metric.name],)
    )


def best_note(summary: Summary) -> str:
    """What a star means, if there may be one."""
    if len(summary.evaluation.systems) < 2:
        return ""
    return f" *: better than every other system (paired test, p < {LEVEL} after Holm's correction)."


def _rows(group: Group, metrics: Sequence[Metric]) -> Iterator[tuple[str, ...]]:
    best = {metric.name: group.best(metric) for metric in metrics}
    for name, scores in group.scores.items():
        cells = (f"{format_score(scores[metric.name])}{'*' * (best[metric.name] == name)}" for metric in metrics)
        yield group.name, name, f"{group.questions:,}", *cells


def format_score(score: Score) -> str:
    """A mean in percent with its interval.

    >>> format_score(Score(mean=0.25, low=0.2, high=0.31, questions=100, errors=3))
    '25.0 [20.0, 31.0]'
    """
    if score.mean is None:
        return "–"
    interval = "" if score.low is None or score.high is None else f" [{100 * score.low:.1f}, {100 * score.high:.1f}]"
    return f"{100 * score.mean:.1f}{interval}"


def _unscored_note(summary: Summary) -> str:
    """Name what is left out of a mean: rows without any value, such as those that ran out of time."""
    notes = [
        f" {metric.title} of {name} is over {score.questions:,} questions: the other "
        f"{summary.overall.questions - score.questions:,} have no value (see the errors)."
        for metric in summary.evaluation.metrics
        for name, scores in summary.overall.scores.items()
        if (score := scores[metric.name]).questions < summary.overall.questions
    ]
    return "".join(notes)


def _error_tables(summary: Summary) -> list[Table]:
    """Errors by reason and system, a column for each metric; the commonest reasons first."""
    metrics = summary.evaluation.metrics
    counts = {
        system.name: [system.columns.error_counts(metric.name) for metric in metrics]
        for system in summary.evaluation.systems
    }
    totals: Counter[str] = Counter()
    for by_metric in counts.values():
        for reasons in by_metric:
            totals.update(reasons)
    if not totals:
        return []
    shown = [reason for reason, _ in totals.most_common(_REASONS_SHOWN)]
    rows = [
        (reason, name, *(f"{reasons.get(reason, 0):,}" for reasons in by_metric))
        for reason in shown
        for name, by_metric in counts.items()
        if any(reason in reasons for reasons in by_metric)
    ]
    rows += [
        ("questions with an error", name, *(f"{scores[metric.name].errors:,}" for metric in metrics))
        for name, scores in summary.overall.scores.items()
    ]
    left_out = len(totals) - len(shown)
    note = f"{left_out} rarer reasons are not shown." if left_out else ""
    columns = ("reason", "system", *(metric.title for metric in metrics))
    return [Table("Errors by reason", columns, tuple(rows), text_columns=2, note=note)]


def _comparison_tables(summary: Summary) -> list[Table]:
    if not summary.overall.comparisons:
        return []
    titles = {metric.name: metric.title for metric in summary.evaluation.metrics}
    rows = tuple(
        (
            titles[each.metric],
            f"{each.first} – {each.second}",
            each.test,
            f"{100 * each.difference:+.1f}",
            f"{each.first_better:,}",
            f"{each.second_better:,}",
            format_p_value(each.p_value),
            format_p_value(each.p_adjusted),
        )
        for each in summary.overall.comparisons
    )
    columns = ("metric", "systems", "test", "difference", "first better", "second better", "p", "p (Holm)")
    note = "Questions on which one system scores better, and the probability of such a difference by chance."
    return [Table("Paired tests", columns, rows, text_columns=3, note=note)]


def format_p_value(value: float) -> str:
    """Four decimals, or that it is smaller.

    >>> format_p_value(0.03), format_p_value(1e-9)
    ('0.0300', '< 0.0001')
    """
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"
