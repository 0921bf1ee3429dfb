"""Scores as text, Markdown, LaTeX, CSV and JSON, to be pasted into a paper or read by a program."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from qdecomp.evaluation.metrics import Metric
from qdecomp.evaluation.outputs import (
    Summary,
    best_note,
    format_score,
    score_rows,
    score_tables,
    signature_rows,
    summary_to_json,
)
from qdecomp.evaluation.statistics import CONFIDENCE, LEVEL, Group, Score
from qdecomp.terminal import format_csv, show_tables


def _text(summary: Summary) -> str:
    stream = io.StringIO()
    show_tables(score_tables(summary), stream)
    return stream.getvalue()


def _markdown(summary: Summary) -> str:
    metrics = summary.evaluation.metrics
    heads = ("group", "system", "questions", *(metric.head for metric in metrics))
    start = 0 if summary.by_group else 1

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells[start:]) + " |\n"

    rows = [(group.name, name, f"{group.questions:,}", *cells) for group, name, cells in _rows(summary, _markdown_cell)]
    rule = line(tuple("---" if column < 2 else "---:" for column in range(len(heads))))
    star = best_note(summary).replace("*", "\\*")
    note = f"Percent, with {CONFIDENCE:.0%} bootstrap intervals.{star}"
    cited = "".join(f"{name}: `{text}`  \n" for name, text in signature_rows(summary))
    return f"{line(heads)}{rule}{''.join(map(line, rows))}\n{note}\n\n{cited}"


def _markdown_cell(score: Score, is_best: bool) -> str:
    return f"**{format_score(score)}**\\*" if is_best else format_score(score)


_LATEX = MappingProxyType(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
)
_SPECIAL = re.compile(r"[&%$#_{}~^\\]")


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda match: _LATEX[match[0]], text)


def _latex(summary: Summary) -> str:
    metrics = summary.evaluation.metrics
    grouped = bool(summary.by_group)
    heads = [*(["Group"] if grouped else []), "System", *(_latex_head(metric) for metric in metrics)]
    rows = [
        f"{' & '.join([*([_escaped(group.name)] if grouped else []), _escaped(name), *cells])} \\\\"
        for group, name, cells in _rows(summary, _latex_cell)
    ]
    tests = f" $^{{*}}$: better than every other system (paired test, $p < {LEVEL}$ after Holm's correction)."
    caption = (
        f"Scores in percent on {summary.overall.questions:,} questions, with {CONFIDENCE * 100:.0f}\\% bootstrap "
        f"intervals.{tests if len(summary.evaluation.systems) > 1 else ''}"
    )
    signatures = [f"% {name}: {text}" for name, text in signature_rows(summary)]
    short = "; ".join(dict.fromkeys(text.partition(" = ")[0] for _, text in signature_rows(summary, short=True)))
    return "\n".join(
        [
            "% needs \\usepackage{booktabs}",
            *signatures,
            "\\begin{table}",
            "\\centering",
            f"\\begin{{tabular}}{{{'l' * (1 + grouped)}{'r' * len(metrics)}}}",
            "\\toprule",
            f"{' & '.join(heads)} \\\\",
            "\\midrule",
            *rows,
            "\\bottomrule",
            "\\end{tabular}",
            f"\\caption{{{caption} Signatures: \\texttt{{\\small {_escaped(short)}}}.}}",
            "\\end{table}",
            "",
        ]
    )


def _latex_head(metric: Metric) -> str:
    return _escaped(metric.title) + (r" $\downarrow$" if metric.lower_is_better else "")


def _latex_cell(score: Score, is_best: bool) -> str:
    mean, _, interval = format_score(score).partition(" ")
    mark = r"$^{*}$" if is_best else ""
    shown = "--" if score.mean is None else rf"\textbf{{{mean}}}" if is_best else mean
    return f"{shown}{mark}" + (rf" {{\small {interval}}}" if interval else "")


def _rows(summary: Summary, cell: Callable[[Score, bool], str]) -> Iterator[tuple[Group, str, tuple[str, ...]]]:
    """The cells of each group and system: of all questions, then of the groups that were asked for."""
    metrics = summary.evaluation.metrics
    for group in (summary.overall, *summary.by_group):
        best = {metric.name: group.best(metric) for metric in metrics}
        for name, scores in group.scores.items():
            yield group, name, tuple(cell(scores[each.name], best[each.name] == name) for each in metrics)


def _csv(summary: Summary) -> str:
    return format_csv(*score_rows(summary))


def _json(summary: Summary) -> str:
    return json.dumps(summary_to_json(summary), ensure_ascii=False, indent=1) + "\n"


FORMATS: Mapping[str, Callable[[Summary], str]] = MappingProxyType(
    {"text": _text, "markdown": _markdown, "latex": _latex, "csv": _csv, "json": _json}
)
"""The forms that scores can be printed in, by name."""
