"""Mean scores with bootstrap intervals: overall, by source and by number of gold steps.

The intervals are percentile intervals of :func:`scipy.stats.bootstrap` over questions. Where all questions of a
group have one score, resampling cannot vary it: the interval is that score, and says little in a small group. A
group of one question has no interval.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from .metrics.metric_table import Metric
from .scoring import QuestionScores, SystemScores

if TYPE_CHECKING:
    import numpy as np

__all__ = ["CONFIDENCE", "RESAMPLES", "Breakdown", "Group", "Score", "break_down", "score_group"]

K = TypeVar("K")

CONFIDENCE = 0.95
RESAMPLES = 2000
# How many resampled values are held in memory at a time.
_VALUES_AT_A_TIME = 4_000_000


@dataclass(frozen=True, slots=True)
class Score:
    """The mean over the questions that have a value, its interval, and how many questions have an error.

    Most errors are wrong answers with a value; only what has no value (a time limit) is left out of the mean, and
    ``questions`` says how many are in it.
    """

    mean: float | None
    low: float | None
    high: float | None
    questions: int
    errors: int


@dataclass(frozen=True, slots=True)
class Group:
    """Some of the questions, with a score for each metric by its name."""

    name: str
    questions: int
    scores: Mapping[str, Score]


@dataclass(frozen=True, slots=True)
class Breakdown:
    """One system's scores."""

    overall: Group
    by_source: tuple[Group, ...]
    by_steps: tuple[Group, ...]


def break_down(system: SystemScores, metrics: Sequence[Metric], *, seed: int = 0) -> Breakdown:
    """The scores of a system on all questions and on its parts."""
    by_source = _grouped(system.questions, lambda question: question.example.source)
    by_steps = _grouped(system.questions, lambda question: question.steps)
    return Breakdown(
        overall=score_group("all", system.questions, metrics, seed=seed),
        by_source=tuple(score_group(name, by_source[name], metrics, seed=seed) for name in sorted(by_source)),
        by_steps=tuple(score_group(str(steps), by_steps[steps], metrics, seed=seed) for steps in sorted(by_steps)),
    )


def _grouped(questions: Sequence[QuestionScores], key: Callable[[QuestionScores], K]) -> dict[K, list[QuestionScores]]:
    groups: dict[K, list[QuestionScores]] = defaultdict(list)
    for question in questions:
        groups[key(question)].append(question)
    return groups


def score_group(name: str, questions: Sequence[QuestionScores], metrics: Sequence[Metric], *, seed: int = 0) -> Group:
    """The scores of some questions."""
    import numpy as np

    values = np.array(
        [[_value_or_nan(question, metric) for question in questions] for metric in metrics], dtype=float
    ).reshape(len(metrics), len(questions))
    scores: dict[str, Score] = {}
    for metric, row, (low, high) in zip(metrics, values, _intervals(values, seed), strict=True):
        scored = row[~np.isnan(row)]
        scores[metric.name] = Score(
            mean=float(scored.mean()) if scored.size else None,
            low=low,
            high=high,
            questions=int(scored.size),
            errors=sum(question.results[metric.name].error is not None for question in questions),
        )
    return Group(name, len(questions), scores)


def _value_or_nan(question: QuestionScores, metric: Metric) -> float:
    value = question.results[metric.name].value
    return float("nan") if value is None else value


def _intervals(values: np.ndarray, seed: int) -> list[tuple[float | None, float | None]]:
    """The interval of each row's mean; rows without gaps share their resamples, which saves most of the time."""
    import numpy as np

    gaps = np.isnan(values).any(axis=1)
    intervals: list[tuple[float | None, float | None]] = [(None, None)] * len(values)
    for rows in (np.flatnonzero(~gaps), *(np.array([row]) for row in np.flatnonzero(gaps))):
        sample = values[rows]
        sample = sample[:, ~np.isnan(sample).any(axis=0)]
        if len(rows) and sample.shape[1] >= 2:
            for row, interval in zip(rows, _bootstrap_means(sample, seed), strict=True):
                intervals[row] = interval
    return intervals


def _bootstrap_means(sample: np.ndarray, seed: int) -> list[tuple[float, float]]:
    import numpy as np
    from scipy import stats

    interval = stats.bootstrap(
        (sample,),
        np.mean,
        axis=-1,
        vectorized=True,
        n_resamples=RESAMPLES,
        batch=max(1, _VALUES_AT_A_TIME // sample.size),
        confidence_level=CONFIDENCE,
        method="percentile",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return [(float(low), float(high)) for low, high in zip(interval.low, interval.high, strict=True)]
