"""Every metric on every question of every system."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from qdecomp.files.jobs import HERE, ROW_KILLED_WORKERS, Pool, Where, in_chunks, spread
from qdecomp.terminal import progress

_NO_GOLD = "gold: no decomposition"
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
class SystemScores:
    """The scores of one system, and its questions in the gold file's order, if they were kept."""

    system: SystemPredictions
    columns: ScoreColumns
    questions: tuple[QuestionScores, ...] = ()

    @property
    def name(self) -> str:
        """The system's name."""
        return self.system.name


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One or more systems on the same gold questions."""

    gold: Gold
    metrics: tuple[Metric, ...]
    systems: tuple[SystemScores, ...]


class ScoreColumns:
    """What the figures of a system are based on: a few bytes for each question, however many there are.

    A missing score is NaN. The texts of errors are only counted, by kind.
    """

    def __init__(self, metrics: Iterable[str], questions: Iterable[QuestionScores] = ()) -> None:
        self._values = {name: array("d") for name in metrics}
        self._failed = {name: bytearray() for name in self._values}
        self._kinds: dict[str, Counter[str]] = {name: Counter() for name in self._values}
        self.internal_errors = 0
        """How many questions have a result that failed because of an internal error."""
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
    keep_questions: bool = True,
    each: Callable[[str, QuestionScores], object] | None = None,
) -> Evaluation:
    """Score the systems' predictions; a question without a prediction gets the worst score and an error.

    With ``answered_only`` it gets no score, so that it is left out of the mean.
    For files of any size, do not keep the questions (``keep_questions``) but write them out as they come: ``each`` is
    called with the system's name and a scored question, system by system in the gold file's order.
    """
    metrics = tuple(metrics)
    _functions(metrics)  # what is not installed is found here, not by each worker
    scored = []
    with where.pool() as pool:
        for system in systems:
            columns = ScoreColumns(metric.name for metric in metrics)
            kept: list[QuestionScores] = []
            pairs, again = tee(zip(gold.examples, system.predictions, strict=True))
            results = _results(pairs, metrics, answered_only, pool)
            questions = (QuestionScores(*pair, found) for pair, found in zip(again, results, strict=True))
            for question in progress(questions, f"Scoring {system.name}", len(gold.examples)):
                columns.add(question)
                if keep_questions:
                    kept.append(question)
                if each is not None:
                    each(system.name, question)
            scored.append(SystemScores(system, columns, tuple(kept)))
    return Evaluation(gold, metrics, tuple(scored))


def _results(
    pairs: Iterable[_Pair], metrics: tuple[Metric, ...], answered_only: bool, pool: Pool | None
) -> Iterator[_Results]:
    chunks = in_chunks(pairs, _ROWS_A_TASK)
    if pool is None:
        return chain.from_iterable(_scores(chunk, metrics, answered_only) for chunk in chunks)
    return chain.from_iterable(
        spread(
            partial(_score_chunk, metrics=metrics, answered_only=answered_only),
            chunks,
            pool,
            partial(_died, metrics=metrics),
        )
    )


def _score_chunk(pairs: Sequence[_Pair], metrics: tuple[Metric, ...], answered_only: bool) -> list[_Results]:
    return list(_scores(pairs, metrics, answered_only))


def _died(pair: _Pair, metrics: tuple[Metric, ...]) -> _Results:
    """The results for a question that no worker survives."""
    return {metric.name: MetricResult(metric.worst, ROW_KILLED_WORKERS) for metric in metrics}


def _scores(pairs: Sequence[_Pair], metrics: tuple[Metric, ...], answered_only: bool) -> Iterator[_Results]:
    """The results of some questions, in any process."""
    functions = _functions(metrics)
    for function in functions:
        # The results are the same without it; if a row fails because of an internal error, scoring it will say so.
        with suppress(InternalError), as_internal_errors():
            prepare(function, _texts(pairs))
    for example, prediction in pairs:
        if answered_only and prediction.text is None:
            yield {metric.name: MetricResult(None, prediction.reason) for metric in metrics}
            continue
        yield {
            metric.name: _score(metric, function, example, prediction)
            for metric, function in zip(metrics, functions, strict=True)
        }


@lru_cache(maxsize=4)
def _functions(metrics: tuple[Metric, ...]) -> tuple[MetricFunction, ...]:
    """The metrics' functions, which are loaded once in each process."""
    return tuple(metric.load() for metric in metrics)


def _texts(pairs: Iterable[_Pair]) -> Iterator[tuple[str, str, str]]:
    return (
        (example.question, prediction.text, example.decomposition)
        for example, prediction in pairs
        if prediction.text is not None and example.decomposition is not None
    )


def _score(metric: Metric, function: MetricFunction, example: BreakExample, prediction: PredictionRow) -> MetricResult:
    if example.decomposition is None:
        return MetricResult(metric.worst, _NO_GOLD)
    if prediction.text is None:
        return MetricResult(metric.worst, prediction.reason)
    try:
        with as_internal_errors():
            return function(example.question, prediction.text, example.decomposition)
    except InternalError as error:
        return MetricResult(metric.worst, ErrorText.of(error))
