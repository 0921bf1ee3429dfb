"""Every metric on every question of every system."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain, tee
from math import nan
from typing import TypeAlias

import numpy as np

from qdecomp.data_structures.errors import ErrorText, InternalError, as_internal_errors, is_internal, patterns_of
from qdecomp.evaluation.metrics import Metric, MetricFunction, MetricResult, prepare
from qdecomp.evaluation.predictions import Gold, PredictionRow, SystemPredictions
from qdecomp.files.break_csv import BreakExample
from qdecomp.files.jobs import HERE, ROW_KILLED_WORKERS, Where, in_chunks, spread
from qdecomp.terminal import progress

_ROWS_A_TASK = 100

_Pair: TypeAlias = tuple[BreakExample, PredictionRow]
_Results: TypeAlias = Mapping[str, MetricResult]


@dataclass(frozen=True, slots=True)
class QuestionScores:
    """A question, a system's prediction and the result of each metric by its name."""

    example: BreakExample
    prediction: PredictionRow
    results: Mapping[str, MetricResult]

    @property
    def has_internal_error(self) -> bool:
        """Whether a metric failed because of an internal error."""
        return any(is_internal(result.error) for result in self.results.values())


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One or more systems on the same gold questions."""

    gold: Gold
    metrics: tuple[Metric, ...]
    systems: tuple[SystemScores, ...]


class SystemScores:
    """What the figures of a system are based on: a few bytes for each question, however many there are.

    A missing score is NaN. The texts of errors are only counted, by kind.
    """

    def __init__(
        self, system: SystemPredictions, metrics: Iterable[str], questions: Iterable[QuestionScores] = ()
    ) -> None:
        self.system = system
        self.name = system.name
        self.questions: list[QuestionScores] = []
        """The questions in the gold file's order, if they are kept."""
        self.internal_errors = 0
        """How many questions have a result that failed because of an internal error."""
        self._values = {name: array("d") for name in metrics}
        self._failed = {name: bytearray() for name in self._values}
        self._kinds: dict[str, Counter[str]] = {name: Counter() for name in self._values}
        for question in questions:
            self.add(question)

    def add(self, question: QuestionScores) -> None:
        """Add a question."""
        for name, values in self._values.items():
            result = question.results[name]
            values.append(nan if result.value is None else result.value)
            self._failed[name].append(result.error is not None)
            if result.error:
                self._kinds[name].update(patterns_of(result.error))
        self.internal_errors += question.has_internal_error

    def values(self, metric: str) -> np.ndarray:
        """The scores of a metric; NaN if there is none."""
        return np.asarray(self._values[metric], dtype=float)

    def failed(self, metric: str) -> np.ndarray:
        """Which questions have an error under a metric."""
        return np.asarray(self._failed[metric], dtype=bool)

    def error_counts(self, metric: str) -> dict[str, int]:
        """How many questions have an error under a metric, by kind of reason, the commonest first."""
        return dict(sorted(self._kinds[metric].items(), key=lambda item: (-item[1], item[0])))


def score_systems(
    gold: Gold,
    systems: Sequence[SystemPredictions],
    metrics: Sequence[Metric],
    *,
    answered_only: bool = False,
    where: Where = HERE,
    each: Callable[[str, QuestionScores], object] | None = None,
) -> Evaluation:
    """Score the systems' predictions; a question without a prediction gets the worst score and an error.

    With ``answered_only`` it gets no score, so that it is left out of the mean.
    With ``each``, the questions are not kept, so that files may have any size: it is called with the system's name and
    a scored question, system by system in the gold file's order.
    """
    metrics = tuple(metrics)
    _functions(metrics)  # what is not installed is found here, not by each worker
    work = partial(_score_rows, metrics=metrics, answered_only=answered_only)
    scored = []
    with where.pool() as pool:
        for system in systems:
            scores = SystemScores(system, (metric.name for metric in metrics))
            pairs, again = tee(zip(gold.examples, system.predictions, strict=True))
            chunks = in_chunks(pairs, _ROWS_A_TASK)
            done = map(work, chunks) if pool is None else spread(work, chunks, pool, partial(_died, metrics=metrics))
            questions = (
                QuestionScores(*pair, found) for pair, found in zip(again, chain.from_iterable(done), strict=True)
            )
            for question in progress(questions, f"Scoring {system.name}", len(gold.examples)):
                scores.add(question)
                if each is None:
                    scores.questions.append(question)
                else:
                    each(system.name, question)
            scored.append(scores)
    return Evaluation(gold, metrics, tuple(scored))


def _died(pair: _Pair, metrics: tuple[Metric, ...]) -> _Results:
    """The results for a question that no worker survives."""
    return {metric.name: MetricResult(metric.worst, ROW_KILLED_WORKERS) for metric in metrics}


def _score_rows(pairs: Sequence[_Pair], metrics: tuple[Metric, ...], answered_only: bool) -> list[_Results]:
    """The results of some questions, in any process."""
    functions = _functions(metrics)
    texts = [
        (example.question, prediction.text, example.decomposition)
        for example, prediction in pairs
        if prediction.text is not None and example.decomposition is not None
    ]
    for function in functions:
        # The results are the same without it; if a row fails because of an internal error, scoring it will say so.
        with suppress(InternalError), as_internal_errors():
            prepare(function, texts)
    by_metric = list(zip(metrics, functions, strict=True))
    return [
        {metric.name: _score(metric, function, *pair, answered_only) for metric, function in by_metric}
        for pair in pairs
    ]


@lru_cache(maxsize=4)
def _functions(metrics: tuple[Metric, ...]) -> tuple[MetricFunction, ...]:
    """The metrics' functions, which are loaded once in each process."""
    return tuple(metric.load() for metric in metrics)


def _score(
    metric: Metric, function: MetricFunction, example: BreakExample, prediction: PredictionRow, answered_only: bool
) -> MetricResult:
    if prediction.text is None and answered_only:
        return MetricResult(None, prediction.reason)
    if example.decomposition is None:
        return MetricResult(metric.worst, "gold: no decomposition")
    if prediction.text is None:
        return MetricResult(metric.worst, prediction.reason)
    try:
        with as_internal_errors():
            return function(example.question, prediction.text, example.decomposition)
    except InternalError as error:
        return MetricResult(metric.worst, ErrorText.of(error))
