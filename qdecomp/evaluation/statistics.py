"""Mean scores with bootstrap intervals, and whether the difference between two systems may be due to chance.

The intervals are percentile intervals of a bootstrap over questions. If all questions of a group have the same score,
resampling cannot vary it: the interval is that score, and says little in a small group. A group of one question has no
interval.

Systems answer the same questions, so the tests are paired. For a verdict (EM, LF-EM, NormEM) it is McNemar's test in
its exact form: of the questions that only one of the two has right, each system should get half if they were equally
good, which a binomial test decides without any approximation. A graded score (SARI, GED) has no such counts; there a
permutation test flips the sign of each question's difference at random and asks how often the mean difference is at
least as large as the observed one. Neither assumes a distribution. With several comparisons, Holm's adjustment keeps
the chance of any false alarm among those of a metric below the level at which the adjusted values are read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, combinations
from math import exp, lgamma, log
from typing import Any

import numpy as np

from qdecomp.evaluation.metrics import Metric
from qdecomp.evaluation.predictions import HowRead
from qdecomp.evaluation.scoring import Evaluation, SystemScores

CONFIDENCE = 0.95
RESAMPLES = 2000
PERMUTATIONS = 1999
LEVEL = 0.05
"""A difference is significant if its adjusted p-value is below this."""
# How many resampled values are held in memory at a time.
_VALUES_AT_A_TIME = 4_000_000


@dataclass(frozen=True, slots=True)
class Settings:
    """The options that change a number, besides what is scored and by which metric.

    The seed is that of intervals and permutation tests; ``resamples`` is the number of a bootstrap's resamples.
    """

    seed: int = 0
    resamples: int = RESAMPLES
    answered_only: bool = False
    read: HowRead = HowRead.ANY


DEFAULT_SETTINGS = Settings()


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
class Comparison:
    """Two systems under one metric, over the questions that both have a value for.

    ``difference`` is the first system's mean minus the second's. ``first_better`` and ``second_better`` count the
    questions on which one has the better score. ``p_adjusted`` is the p-value after Holm's adjustment for all
    pairs of systems, and for all groups that are tested together.
    """

    metric: str
    first: str
    second: str
    questions: int
    difference: float
    first_better: int
    second_better: int
    test: str
    p_value: float
    p_adjusted: float


@dataclass(frozen=True, slots=True)
class Group:
    """Some of the questions: the scores of each system, by the metric's name, and the tests of every two systems."""

    name: str
    questions: int
    scores: Mapping[str, Mapping[str, Score]]
    comparisons: tuple[Comparison, ...] = ()

    def best(self, metric: Metric) -> str | None:
        """The system that is significantly better than every other one that has a score."""
        others = sum(scores[metric.name].mean is not None for scores in self.scores.values()) - 1
        wins = Counter(
            each.first if (each.difference > 0) != metric.lower_is_better else each.second
            for each in self.comparisons
            if each.metric == metric.name and each.p_adjusted < LEVEL
        )
        return next((name for name in self.scores if 0 < others == wins[name]), None)


def places_by(values: Iterable[Any]) -> dict[str, np.ndarray]:
    """Where each value is among those of all questions; numbers by their size, then words.

    >>> list(places_by([12, 2, "DROP", 2]))
    ['2', '12', 'DROP']
    """
    places: dict[Any, list[int]] = {}
    for place, value in enumerate(values):
        places.setdefault(value, []).append(place)
    return {str(value): np.array(places[value]) for value in sorted(places, key=_in_order)}


def _in_order(value: Any) -> tuple[bool, int, str]:
    text = str(value)
    return (False, int(text), "") if text.isdecimal() else (True, 0, text)


def score_groups(
    evaluation: Evaluation, places: Mapping[str, np.ndarray], settings: Settings = DEFAULT_SETTINGS
) -> tuple[Group, ...]:
    """The scores on groups of questions, each given by its places; the tests are adjusted for all of the groups."""
    tests = _compare_groups(evaluation, list(places.values()), settings)
    return tuple(
        Group(
            name,
            len(chosen),
            {each.name: _scores(each, evaluation.metrics, chosen, settings) for each in evaluation.systems},
            comparisons,
        )
        for (name, chosen), comparisons in zip(places.items(), tests, strict=True)
    )


def _scores(
    system: SystemScores, metrics: Sequence[Metric], chosen: np.ndarray, settings: Settings
) -> dict[str, Score]:
    values = np.stack([system.values(metric.name)[chosen] for metric in metrics])
    scores: dict[str, Score] = {}
    for metric, row_values, (low, high) in zip(metrics, values, _intervals(values, settings), strict=True):
        scored = row_values[~np.isnan(row_values)]
        mean = float(scored.mean()) if scored.size else None
        errors = int(system.failed(metric.name)[chosen].sum())
        scores[metric.name] = Score(mean, low, high, int(scored.size), errors)
    return scores


def mean_interval(values: Sequence[float]) -> tuple[float | None, float | None]:
    """The interval of the mean of some values; there is none for fewer than two."""
    return _intervals(np.array([values], dtype=float).reshape(1, len(values)), DEFAULT_SETTINGS)[0]


def _intervals(values: np.ndarray, settings: Settings) -> list[tuple[float | None, float | None]]:
    """The interval of each row's mean; rows without gaps share their resamples."""
    gaps = np.isnan(values).any(axis=1)
    intervals: list[tuple[float | None, float | None]] = [(None, None)] * len(values)
    for rows in (np.flatnonzero(~gaps), *(np.array([row]) for row in np.flatnonzero(gaps))):
        sample = values[rows]
        sample = sample[:, ~np.isnan(sample).any(axis=0)]
        if len(rows) and sample.shape[1] >= 2:
            means = np.sort(_resampled_means(sample, settings), axis=-1)
            # Interpolated to the last digit as in published intervals; places are counted from 1.
            tail = (1 - CONFIDENCE) / 2
            places = [share * means.shape[1] + (1 - share) for share in (tail, 1 - tail)]
            bounds = [(1 - place % 1) * means[:, int(place) - 1] + place % 1 * means[:, int(place)] for place in places]
            for row, low, high in zip(rows, *bounds, strict=True):
                intervals[row] = float(low), float(high)
    return intervals


def _resampled_means(sample: np.ndarray, settings: Settings) -> np.ndarray:
    """The means of each row (rows, resamples) in bootstrap resamples of its columns."""
    rng, size, resamples = np.random.default_rng(settings.seed), sample.shape[1], settings.resamples
    at_a_time = max(1, _VALUES_AT_A_TIME // sample.size)
    pieces = [min(at_a_time, resamples - start) for start in range(0, resamples, at_a_time)]
    return np.concatenate([sample[:, rng.integers(0, size, (count, size))].mean(axis=-1) for count in pieces], axis=-1)


def compare_systems(evaluation: Evaluation) -> tuple[Comparison, ...]:
    """Compare every two systems under every metric."""
    return _compare_groups(evaluation, (slice(None),), DEFAULT_SETTINGS)[0]


def _compare_groups(
    evaluation: Evaluation, groups: Sequence[np.ndarray | slice], settings: Settings
) -> list[tuple[Comparison, ...]]:
    """The comparisons on each group of questions; the adjustment is for all pairs and groups of a metric."""
    found: list[tuple[Comparison, ...]] = [()] * len(groups)
    for metric in evaluation.metrics:
        compared = [
            (place, comparison)
            for place, chosen in enumerate(groups)
            for first, second in combinations(evaluation.systems, 2)
            if (comparison := _compare(metric, first, second, chosen, settings)) is not None
        ]
        for (place, comparison), adjusted in zip(compared, _holm([each.p_value for _, each in compared]), strict=True):
            found[place] += (replace(comparison, p_adjusted=adjusted),)
    return found


def _compare(
    metric: Metric, first: SystemScores, second: SystemScores, chosen: np.ndarray | slice, settings: Settings
) -> Comparison | None:
    values = first.values(metric.name)[chosen] - second.values(metric.name)[chosen]
    differences = values[~np.isnan(values)]
    if not differences.size:
        return None
    better = -differences if metric.lower_is_better else differences
    first_better, second_better = int((better > 0).sum()), int((better < 0).sum())
    if metric.is_verdict:
        test, p_value = "exact McNemar", mcnemar(first_better, second_better)
    else:
        test, p_value = "paired permutation", _permutation(differences, settings.seed)
    names, size, mean = (metric.name, first.name, second.name), int(differences.size), float(differences.mean())
    return Comparison(*names, size, mean, first_better, second_better, test, p_value, p_adjusted=p_value)


def mcnemar(only_first: int, only_second: int) -> float:
    """Twice the probability that a fair coin falls at most ``fewer`` times on one side in ``total`` throws.

    >>> round(mcnemar(1, 5), 6) == round(2 * (1 + 6) / 2**6, 6)
    True
    """
    fewer, total = min(only_first, only_second), only_first + only_second
    if 2 * fewer == total:
        return 1.0
    # The probabilities of one less, two less, … relative to that of ``fewer``.
    below = np.cumprod(np.arange(fewer, 0, -1) / np.arange(total - fewer + 1, total + 1))
    largest = lgamma(total + 1) - lgamma(fewer + 1) - lgamma(total - fewer + 1) - total * log(2)
    return min(1.0, 2 * exp(largest) * (1 + float(below.sum())))


def _permutation(differences: np.ndarray, seed: int) -> float:
    """The p-value for a mean of zero; questions without a difference are left out, since flipping changes nothing."""
    moving = differences[differences != 0]
    if moving.size < 2:
        return 1.0
    observed = moving.sum()
    is_exact = 2**moving.size <= PERMUTATIONS
    sums = np.concatenate(list(_flipped_sums(moving, seed, is_exact)))
    # Sums that differ only by rounding errors are equal. The observed signs count as one of the drawn ones.
    margin = abs(observed) * 100 * np.finfo(float).eps
    extreme = min(int((sums <= observed + margin).sum()), int((sums >= observed - margin).sum()))
    return min(1.0, 2 * (extreme / len(sums) if is_exact else (extreme + 1) / (len(sums) + 1)))


def _flipped_sums(moving: np.ndarray, seed: int, is_exact: bool) -> Iterator[np.ndarray]:
    """The sums with all choices of signs, or with drawn ones."""
    if is_exact:
        flipped = np.arange(2**moving.size)[:, None] >> np.arange(moving.size) & 1
        yield np.where(flipped, -moving, moving).sum(axis=-1)
        return
    rng = np.random.default_rng(seed)
    at_a_time = min(PERMUTATIONS, max(1, _VALUES_AT_A_TIME // moving.size))
    # A pair in its order or the other way round; published p-values were made with these draws.
    pairs = np.tile(np.arange(2), (at_a_time, moving.size, 1))
    for start in range(0, PERMUTATIONS, at_a_time):
        flipped = rng.permuted(pairs, axis=-1)[: PERMUTATIONS - start, :, 0]
        yield np.where(flipped, -moving, moving).sum(axis=-1)


def _holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment, in the order in which the values were given.

    >>> _holm([0.03, 0.01, 0.04])
    [0.06, 0.03, 0.06]
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    stepped = [min(1.0, p_values[index] * (len(p_values) - rank)) for rank, index in enumerate(order)]
    adjusted = dict(zip(order, accumulate(stepped, max), strict=True))
    return [adjusted[index] for index in range(len(p_values))]
