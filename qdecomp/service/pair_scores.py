"""Pairs of decompositions, scored by the metrics of the package."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from qdecomp.data_structures.errors import DataError, ErrorText, QDecompError, Side, as_internal_errors
from qdecomp.data_structures.reading import read_decomposition
from qdecomp.data_structures.tokenization import check_length
from qdecomp.evaluation.metrics.metric_table import DEFAULT_METRICS, Metric, MetricFunction, MetricOptions, MetricResult
from qdecomp.evaluation.scoring import choose_metrics, field_name
from qdecomp.service.refused_requests import RefusedError, took_too_long
from qdecomp.service.requests import ScoredPair, WrittenSteps

__all__ = ["Scorer", "chosen_metrics"]

_GED_SECONDS = 5.0


def chosen_metrics(names: Sequence[str] | None) -> tuple[Metric, ...]:
    """The metrics of a request; an unknown name is refused."""
    try:
        metrics = choose_metrics(names if names is not None else DEFAULT_METRICS)
    except DataError as error:
        raise RefusedError(422, str(error)) from None
    if not metrics:
        raise RefusedError(422, "metrics is empty; leave it out for the usual ones")
    return metrics


@lru_cache(maxsize=16)
def _function(metric: Metric, ged_seconds: float) -> MetricFunction:
    return metric.load(MetricOptions(ged_seconds=ged_seconds))


class Scorer:
    """Scores pairs one by one until the time is up."""

    def __init__(self, max_seconds: float) -> None:
        self._max_seconds = max_seconds
        self._ged_seconds = min(_GED_SECONDS, max_seconds)

    def score(self, pairs: Sequence[ScoredPair], metrics: Sequence[Metric]) -> list[dict[str, Any]]:
        """The scores of each pair: a value for each metric, and reasons if something could not be read."""
        end = time.monotonic() + self._max_seconds
        try:
            functions = {metric: _function(metric, self._ged_seconds) for metric in metrics}
        except DataError as error:  # a metric whose packages are not installed
            raise RefusedError(422, str(error)) from None
        found = []
        for pair in pairs:
            if time.monotonic() > end:
                raise took_too_long(self._max_seconds)
            found.append(_scored(pair, functions))
        return found


def mean_scores(results: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """The mean of each metric over the pairs that have a value."""
    means: dict[str, float | None] = {}
    for name in results[0]["scores"] if results else ():
        values = [result["scores"][name] for result in results if result["scores"][name] is not None]
        means[name] = sum(values) / len(values) if values else None
    return means


def _scored(pair: ScoredPair, functions: Mapping[Metric, MetricFunction]) -> dict[str, Any]:
    results = {metric: _result(pair, metric, function) for metric, function in functions.items()}
    answer: dict[str, Any] = {
        "scores": {field_name(metric): result.value for metric, result in results.items()},
        "errors": {field_name(metric): result.error for metric, result in results.items() if result.error},
    }
    for metric, result in results.items():
        if metric.name in ("lf_em", "lf_em_strict"):
            forms = {side: result.details.get(f"{side}_normalized") for side in ("prediction", "gold")}
            answer.setdefault("normalized", {})[metric.name] = forms
        elif evidence := result.details.get("evidence"):
            answer.setdefault("evidence", {})[metric.name] = list(evidence)
    return answer


def _result(pair: ScoredPair, metric: Metric, function: MetricFunction) -> MetricResult:
    worst = 1.0 if metric.lower_is_better else 0.0
    try:
        with as_internal_errors():
            check_length(pair.question)
            prediction, gold = _read("prediction", pair.prediction), _read("gold", pair.gold)
            return function(pair.question, prediction, gold)
    except QDecompError as error:
        return MetricResult(worst, ErrorText.of(error))


def _read(side: Side, written: WrittenSteps) -> str:
    try:
        return read_decomposition(written).text
    except QDecompError as error:
        error.of(side)
        raise
