"""Whether the difference between two systems on the same questions may be due to chance.

Both systems answer the same questions, so the tests are paired. For a verdict (EM, LF-EM, NormEM) it is McNemar's test
in its exact form: of the questions that only one of the two has right, each system should get half if they were equally
good, which a binomial test decides without any approximation. A graded score (SARI, GED) has no such counts; there a
permutation test flips the sign of each question's difference at random and asks how often the mean difference is at
least as large as the observed one. Neither assumes a distribution. With more than two systems there are several
comparisons; Holm's adjustment keeps the chance of any false alarm among those of a metric below the level at which the
adjusted values are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

from qdecomp.evaluation.metrics.metric_table import Metric
from qdecomp.evaluation.scoring import Evaluation, SystemScores

if TYPE_CHECKING:
    import numpy as np

__all__ = ["PERMUTATIONS", "Comparison", "compare_systems"]

PERMUTATIONS = 1999
_VALUES_AT_A_TIME = 4_000_000


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two systems under one metric, over the questions that both have a value for.

    ``difference`` is the first system's mean minus the second's. ``first_better`` and ``second_better`` count the
    questions on which one has the better score. ``p_adjusted`` is the p-value after Holm's adjustment for all
    pairs of systems.
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


def compare_systems(evaluation: Evaluation, *, seed: int = 0) -> tuple[Comparison, ...]:
    """Compare every two systems under every metric."""
    comparisons: list[Comparison] = []
    for metric in evaluation.metrics:
        pairs = (_compare(metric, first, second, seed) for first, second in combinations(evaluation.systems, 2))
        comparisons += _holm([pair for pair in pairs if pair is not None])
    return tuple(comparisons)


def _compare(metric: Metric, first: SystemScores, second: SystemScores, seed: int) -> Comparison | None:
    import numpy as np

    values = first.columns.values(metric.name) - second.columns.values(metric.name)
    differences = values[~np.isnan(values)]
    if not differences.size:
        return None
    better = -differences if metric.lower_is_better else differences
    first_better, second_better = int((better > 0).sum()), int((better < 0).sum())
    if metric.is_verdict:
        test, p_value = "exact McNemar", _mcnemar(first_better, second_better)
    else:
        test, p_value = "paired permutation", _permutation(differences, seed)
    return Comparison(
        metric=metric.name,
        first=first.name,
        second=second.name,
        questions=int(differences.size),
        difference=float(differences.mean()),
        first_better=first_better,
        second_better=second_better,
        test=test,
        p_value=p_value,
        p_adjusted=p_value,
    )


def _mcnemar(only_first: int, only_second: int) -> float:
    from scipy import stats

    if only_first + only_second == 0:
        return 1.0
    return float(stats.binomtest(only_first, only_first + only_second).pvalue)


def _permutation(differences: np.ndarray, seed: int) -> float:
    """The p-value for a mean of zero; questions without a difference are left out, since flipping changes nothing."""
    import numpy as np
    from scipy import stats

    moving = differences[differences != 0]
    if moving.size < 2:
        return 1.0
    return float(
        stats.permutation_test(
            (moving,),
            np.sum,
            permutation_type="samples",
            vectorized=True,
            n_resamples=PERMUTATIONS,
            batch=max(1, _VALUES_AT_A_TIME // moving.size),
            rng=np.random.default_rng(seed),
        ).pvalue
    )


def _holm(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Holm's step-down adjustment, in the order in which the comparisons were given."""
    adjusted: dict[int, float] = {}
    running = 0.0
    by_p_value = sorted(range(len(comparisons)), key=lambda index: comparisons[index].p_value)
    for rank, index in enumerate(by_p_value):
        running = max(running, min(1.0, comparisons[index].p_value * (len(comparisons) - rank)))
        adjusted[index] = running
    return [replace(comparison, p_adjusted=adjusted[index]) for index, comparison in enumerate(comparisons)]
