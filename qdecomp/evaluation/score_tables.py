"""The figures of an evaluation as tables to read, and the problems of its files in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from qdecomp.evaluation.breakdown import CONFIDENCE, Group, Score
from qdecomp.evaluation.metrics.metric_table import Metric
from qdecomp.evaluation.predictions import RowProblem
from qdecomp.evaluation.score_outputs import Summary, problem_counts
from qdecomp.terminal import Table

__all__ = ["format_p_value", "format_score", "problem_lines", "score_tables"]

_PROBLEMS_SHOWN = 5
_REASONS_SHOWN = 12


def problem_lines(path: Path, problems: Sequence[RowProblem]) -> list[str]:
    """The problems of a file in words: how many of a kind, and the first of each by row number."""
    lines = []
    for kind, count in problem_counts(problems).items():
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


def score_tables(summary: Summary) -> list[Table]:
    """The figures as tables: scores, by source, by number of steps, errors by reason, and the paired tests."""
    metrics = summary.evaluation.metrics
    names = [system.name for system in summary.evaluation.systems]
    overall = [
        (name, *_group_cells(each.overall, metrics)) for name, each in zip(names, summary.breakdowns, strict=True)
    ]
    heads = ("questions", *(f"{metric.title}{' ↓' if metric.lower_is_better else ''}" for metric in metrics))
    note = f"Percent, with {CONFIDENCE:.0%} bootstrap intervals.{_unscored_note(summary)}"
    tables = [Table("Scores", ("system", *heads), tuple(overall), note=note)]
    for title, head, groups in (
        ("By source", "source", [each.by_source for each in summary.breakdowns]),
        ("By number of gold steps", "steps", [each.by_steps for each in summary.breakdowns]),
    ):
        rows = tuple(
            (group.name, name, *_group_cells(group, metrics))
            for same_group in zip(*groups, strict=True)
            for name, group in zip(names, same_group, strict=True)
        )
        tables.append(Table(title, (head, "system", *heads), rows, text_columns=2))
    return [*tables, *_error_tables(summary), *_comparison_tables(summary)]


def _group_cells(group: Group, metrics: Sequence[Metric]) -> tuple[str, ...]:
    return (f"{group.questions:,}", *(format_score(group.scores[metric.name]) for metric in metrics))


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
        f" {metric.title} of {system.name} is over {score.questions:,} questions: the other "
        f"{breakdown.overall.questions - score.questions:,} have no value (see the errors)."
        for metric in summary.evaluation.metrics
        for system, breakdown in zip(summary.evaluation.systems, summary.breakdowns, strict=True)
        if (score := breakdown.overall.scores[metric.name]).questions < breakdown.overall.questions
    ]
    return "".join(notes)


def _error_tables(summary: Summary) -> list[Table]:
    """Errors by reason and system, a column for each metric; the commonest reasons first."""
    metrics = summary.evaluation.metrics
    counts = [
        (system.name, breakdown.overall, [system.columns.error_counts(metric.name) for metric in metrics])
        for system, breakdown in zip(summary.evaluation.systems, summary.breakdowns, strict=True)
    ]
    totals: Counter[str] = Counter()
    for _, _, by_metric in counts:
        for reasons in by_metric:
            totals.update(reasons)
    if not totals:
        return []
    shown = [reason for reason, _ in totals.most_common(_REASONS_SHOWN)]
    rows = [
        (reason, name, *(f"{reasons.get(reason, 0):,}" for reasons in by_metric))
        for reason in shown
        for name, _, by_metric in counts
        if any(reason in reasons for reasons in by_metric)
    ]
    rows += [
        ("questions with an error", name, *(f"{overall.scores[metric.name].errors:,}" for metric in metrics))
        for name, overall, _ in counts
    ]
    left_out = len(totals) - len(shown)
    note = f"{left_out} rarer reasons are not shown." if left_out else ""
    columns = ("reason", "system", *(metric.title for metric in metrics))
    return [Table("Errors by reason", columns, tuple(rows), text_columns=2, note=note)]


def _comparison_tables(summary: Summary) -> list[Table]:
    if not summary.comparisons:
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
        for each in summary.comparisons
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
