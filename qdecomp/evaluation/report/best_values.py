"""Scores with a column for each system, so that the best value of a row can be marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from qdecomp.evaluation.breakdown import Group
from qdecomp.evaluation.metrics.metric_table import Metric
from qdecomp.evaluation.score_tables import format_score

__all__ = ["Cell", "SystemRow", "system_rows"]


@dataclass(frozen=True, slots=True)
class Cell:
    """A score as text; the best of its row is marked, if there are several."""

    text: str
    is_best: bool


@dataclass(frozen=True, slots=True)
class SystemRow:
    """A metric on a group of questions: a cell for each system."""

    group: str
    questions: int
    metric: str
    cells: tuple[Cell, ...]


def system_rows(groups: Sequence[Sequence[Group]], metrics: Sequence[Metric]) -> tuple[SystemRow, ...]:
    """The rows for the groups of all systems (a sequence for each), group by group and metric by metric."""
    return tuple(
        SystemRow(same[0].name, same[0].questions, _title(metric), _cells(same, metric))
        for same in zip(*groups, strict=True)
        for metric in metrics
    )


def _title(metric: Metric) -> str:
    return f"{metric.title}{' ↓' if metric.lower_is_better else ''}"


def _cells(groups: Sequence[Group], metric: Metric) -> tuple[Cell, ...]:
    scores = [group.scores[metric.name] for group in groups]
    means = [score.mean for score in scores if score.mean is not None]
    best = (min if metric.lower_is_better else max)(means) if len(set(means)) > 1 else None
    return tuple(Cell(format_score(score), best is not None and score.mean == best) for score in scores)
