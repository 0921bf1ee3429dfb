"""Scores as tables, text, Markdown, LaTeX, CSV and JSON, and notes on the files in words."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import MappingProxyType

from qdecomp.data_structures.reading import BREAK_FORM, Reading
from qdecomp.evaluation.metrics import Metric
from qdecomp.evaluation.outputs import Summary, score_rows, signature, summary_to_json
from qdecomp.evaluation.predictions import RowProblem
from qdecomp.evaluation.statistics import CONFIDENCE, LEVEL, Group, Score
from qdecomp.terminal import Table, format_csv, show_tables

_PROBLEMS_SHOWN = 5
_REASONS_SHOWN = 12
_WORDS_SHOWN = 12


def problem_lines(path: Path, problems: Sequence[RowProblem]) -> list[str]:
    """The problems of a file in words: how many of a kind, and the first of each by row number."""
    lines = []
    for kind, count in Counter(problem.kind for problem in problems).items():
        lines.append(f"{path}: {count:,} {kind} {'row' if count == 1 else 'rows'}")
        for problem in islice((each for each in problems if each.kind == kind), _PROBLEMS_SHOWN):
            row = f"row {problem.row} of the gold file" if problem.kind.in_gold else f"row {problem.row}"
            question = f" ({problem.question_id})" if problem.question_id else ""
            lines.append(f"  {row}{question}: {problem.message}")
        if count > _PROBLEMS_SHOWN:
            lines.append(f"  … and {count - _PROBLEMS_SHOWN:,} more")
    return lines


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
    overall = tuple(row[1:] for row in _rows([summary.overall], metrics, _text_cell))
    tables = [Table("Scores", ("system", *heads), overall, note=f"{note}{_best_note(summary)}")]
    for title, head, groups in (
        ("By group", "group", summary.by_group),
        ("By source", "source", summary.by_source),
        ("By number of gold steps", "steps", summary.by_steps),
    ):
        if groups:
            rows = tuple(_rows(groups, metrics, _text_cell))
            tables.append(Table(title, (head, "system", *heads), rows, text_columns=2))
    signatures = Table("Signatures", ("system", "to cite"), tuple(_signature_rows(summary)), text_columns=2)
    return [*tables, *_error_tables(summary), *_comparison_tables(summary), signatures]


def _signature_rows(summary: Summary, *, short: bool = False) -> Iterator[tuple[str, str]]:
    """Each system with the line to cite for each of its scores."""
    for name, scores in summary.overall.scores.items():
        for metric in summary.evaluation.metrics:
            score = scores[metric.name]
            yield name, f"{signature(metric, score, summary.settings, short=short)} = {format_score(score)}"


def _best_note(summary: Summary) -> str:
    """What a star means, if there may be one."""
    if len(summary.evaluation.systems) < 2:
        return ""
    return f" *: better than every other system (paired test, p < {LEVEL} after Holm's correction)."


def _rows(
    groups: Iterable[Group], metrics: Sequence[Metric], cell: Callable[[Score, bool], str]
) -> Iterator[tuple[str, ...]]:
    """Each group and system with the number of questions and its cells."""
    for group in groups:
        best = {metric.name: group.best(metric) for metric in metrics}
        for name, scores in group.scores.items():
            cells = (cell(scores[metric.name], best[metric.name] == name) for metric in metrics)
            yield group.name, name, f"{group.questions:,}", *cells


def _text_cell(score: Score, is_best: bool) -> str:
    return format_score(score) + "*" * is_best


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
    questions = summary.overall.questions
    return "".join(
        f" {metric.title} of {name} is over {score.questions:,} questions: the other "
        f"{questions - score.questions:,} have no value (see the errors)."
        for metric in summary.evaluation.metrics
        for name, scores in summary.overall.scores.items()
        if (score := scores[metric.name]).questions < questions
    )


def _error_tables(summary: Summary) -> list[Table]:
    """Errors by reason and system, a column for each metric; the commonest reasons first."""
    metrics = summary.evaluation.metrics
    counts = {
        system.name: [system.error_counts(metric.name) for metric in metrics] for system in summary.evaluation.systems
    }
    totals = sum((Counter(reasons) for by_metric in counts.values() for reasons in by_metric), Counter[str]())
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


def _text(summary: Summary) -> str:
    stream = io.StringIO()
    show_tables(score_tables(summary), stream)
    return stream.getvalue()


def _markdown(summary: Summary) -> str:
    metrics = summary.evaluation.metrics
    start = 0 if summary.by_group else 1

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells[start:]) + " |\n"

    heads = ("group", "system", "questions", *(metric.head for metric in metrics))
    rule = ("---", "---", *["---:"] * (len(heads) - 2))
    rows = _rows((summary.overall, *summary.by_group), metrics, _markdown_cell)
    note = f"Percent, with {CONFIDENCE:.0%} bootstrap intervals." + _best_note(summary).replace("*", "\\*")
    cited = "".join(f"{name}: `{text}`  \n" for name, text in _signature_rows(summary))
    return f"{''.join(map(line, (heads, rule, *rows)))}\n{note}\n\n{cited}"


def _markdown_cell(score: Score, is_best: bool) -> str:
    return f"**{format_score(score)}**\\*" if is_best else format_score(score)


_ESCAPES = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
)


def _latex(summary: Summary) -> str:
    metrics, grouped = summary.evaluation.metrics, bool(summary.by_group)
    heads = [metric.title.translate(_ESCAPES) + r" $\downarrow$" * metric.lower_is_better for metric in metrics]
    rows = [
        [*(name.translate(_ESCAPES) for name in ([group] if grouped else []) + [system]), *cells]
        for group, system, _, *cells in _rows((summary.overall, *summary.by_group), metrics, _latex_cell)
    ]
    head, *body = [" & ".join(row) + r" \\" for row in ([*(["Group"] if grouped else []), "System", *heads], *rows)]
    tests = f" $^{{*}}$: better than every other system (paired test, $p < {LEVEL}$ after Holm's correction)."
    caption = (
        f"Scores in percent on {summary.overall.questions:,} questions, with {CONFIDENCE * 100:.0f}\\% bootstrap "
        f"intervals.{tests if len(summary.evaluation.systems) > 1 else ''}"
    )
    short = "; ".join(dict.fromkeys(text.partition(" = ")[0] for _, text in _signature_rows(summary, short=True)))
    return "\n".join(
        [
            "% needs \\usepackage{booktabs}",
            *(f"% {name}: {text}" for name, text in _signature_rows(summary)),
            "\\begin{table}",
            "\\centering",
            f"\\begin{{tabular}}{{{'l' * (1 + grouped)}{'r' * len(metrics)}}}",
            *("\\toprule", head, "\\midrule", *body, "\\bottomrule"),
            "\\end{tabular}",
            f"\\caption{{{caption} Signatures: \\texttt{{\\small {short.translate(_ESCAPES)}}}.}}",
            "\\end{table}",
            "",
        ]
    )


def _latex_cell(score: Score, is_best: bool) -> str:
    mean, _, interval = format_score(score).partition(" ")
    mark = r"$^{*}$" if is_best else ""
    shown = "--" if score.mean is None else rf"\textbf{{{mean}}}" if is_best else mean
    return f"{shown}{mark}" + (rf" {{\small {interval}}}" if interval else "")


def _json(summary: Summary) -> str:
    return json.dumps(summary_to_json(summary), ensure_ascii=False, indent=1) + "\n"


FORMATS: Mapping[str, Callable[[Summary], str]] = MappingProxyType(
    {
        "text": _text,
        "markdown": _markdown,
        "latex": _latex,
        "csv": lambda summary: format_csv(*score_rows(summary)),
        "json": _json,
    }
)
"""The forms that scores can be printed in, by name."""
