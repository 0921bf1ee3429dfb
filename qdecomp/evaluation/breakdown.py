"""Mean scores with bootstrap intervals: overall, by source and by number of gold steps.

The intervals are percentile intervals of a bootstrap over questions, for all but very large groups that of
:func:`scipy.stats.bootstrap`. If all questions of a
group have the same score, resampling cannot vary it: the interval is that score, and says little in a small group. A
group of one question has no interval.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from qdecomp.evaluation.metrics.metric_table import Metric
from qdecomp.evaluation.score_columns import ScoreColumns

if TYPE_CHECKING:
    import numpy as np

__all__ = ["CONFIDENCE", "RESAMPLES", "Breakdown", "Group", "Score", "break_down", "mean_interval", "score_group"]

CONFIDENCE = 0.95
RESAMPLES = 2000
# How many resampled values are held in memory at a time.
_VALUES_AT_A_TIME = 4_000_000
# From so many questions on, resamples are drawn as counts of the different values, which takes no longer for more
# questions. Below, the draws are those that published intervals were made with.
_QUESTIONS_TO_COUNT = 50_000


@dataclass(frozen=True, slots=True)
class Score:
    """The mean over the questions that have a value, its interval, and how many questions have an error.

    Most errors are wrong answers with a value; only what has no value (because of a time limit) is left out of the
    mean, and ``questions`` says how many are in it.
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


def break_down(columns: ScoreColumns, metrics: Sequence[Metric], *, seed: int = 0) -> Breakdown:
    """The scores of a system on all questions and on parts of them."""
    by_source, by_steps = columns.places_by_source(), columns.places_by_steps()
    return Breakdown(
        overall=score_group("all", columns, metrics, seed=seed),
        by_source=tuple(
            score_group(name, columns, metrics, places=by_source[name], seed=seed) for name in sorted(by_source)
        ),
        by_steps=tuple(
            score_group(str(steps), columns, metrics, places=by_steps[steps], seed=seed) for steps in sorted(by_steps)
        ),
    )


def score_group(
    name: str,
    columns: ScoreColumns,
    metrics: Sequence[Metric],
    *,
    places: np.ndarray | None = None,
    seed: int = 0,
) -> Group:
    """The scores of the questions at some places, or of all of them."""
    import numpy as np

    chosen = slice(None) if places is None else places
    questions = len(columns) if places is None else len(places)
    values = np.empty((len(metrics), questions))
    for row, metric in enumerate(metrics):
        values[row] = columns.values(metric.name)[chosen]
    scores: dict[str, Score] = {}
    for metric, row_values, (low, high) in zip(metrics, values, _intervals(values, seed), strict=True):
        scored = row_values[~np.isnan(row_values)]
        scores[metric.name] = Score(
            mean=float(scored.mean()) if scored.size else None,
            low=low,
            high=high,
            questions=int(scored.size),
            errors=int(columns.failed(metric.name)[chosen].sum()),
        )
    return Group(name, questions, scores)


def mean_interval(values: Sequence[float], *, seed: int = 0) -> tuple[float | None, float | None]:
    """The interval of the mean of some values; there is none for fewer than two."""
    import numpy as np

    return _intervals(np.array([values], dtype=float).reshape(1, len(values)), seed)[0]


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
    if sample.shape[1] >= _QUESTIONS_TO_COUNT:
        return [_interval_by_counts(row, seed) for row in sample]
    return _interval_by_draws(sample, seed)


def _interval_by_counts(row: np.ndarray, seed: int) -> tuple[float, float]:
    """The same bootstrap: how often a resample has each of the different values is multinomial."""
    import numpy as np

    values, counts = np.unique(row, return_counts=True)
    rng, total = np.random.default_rng(seed), len(row)
    at_a_time = max(1, _VALUES_AT_A_TIME // len(values))
    means: list[np.ndarray] = []
    for start in range(0, RESAMPLES, at_a_time):
        resamples = rng.multinomial(total, counts / total, size=min(at_a_time, RESAMPLES - start))
        means.append(resamples @ values / total)
    low, high = np.quantile(np.concatenate(means), [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(low), float(high)


def _interval_by_draws(sample: np.ndarray, seed: int) -> list[tuple[float, float]]:
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
