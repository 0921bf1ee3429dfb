"""Every metric on every question of every system."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain, repeat
from typing import Protocol, TypeAlias

from qdecomp.data_structures.errors import ErrorText, InternalError, as_internal_errors, is_internal
from qdecomp.evaluation.metrics.metric_table import (
    DEFAULT_METRICS,
    Metric,
    MetricFunction,
    MetricOptions,
    MetricResult,
    get_metric,
    prepare,
)
from qdecomp.evaluation.predictions import Gold, PredictionRow, SystemPredictions
from qdecomp.evaluation.score_columns import ScoreColumns
from qdecomp.files import BreakExample
from qdecomp.terminal import progress
from qdecomp.workers.processes import ROW_KILLED_WORKERS, Spread, in_chunks, in_processes

__all__ = [
    "Evaluation",
    "QuestionScores",
    "SystemScores",
    "choose_metrics",
    "count_mistakes",
    "evaluate",
    "field_name",
    "has_mistake",
    "number_of_steps",
]

# A metric that is always shown with another one: the reader of a published score should see the strict one, too.
_COMPANIONS = {"lf_em": "lf_em_strict"}
# The names in files that differ from those on the command line: they follow Break's evaluator.
_FIELD_NAMES = {"em": "exact_match"}

_NO_GOLD = "gold: no decomposition"
_ROWS_A_TASK = 100

Pair: TypeAlias = tuple[BreakExample, PredictionRow]
"""A question and what a system answered to it."""


@dataclass(frozen=True, slots=True)
class QuestionScores:
    """A question, a system's prediction and the result of each metric by its name."""

    example: BreakExample
    steps: int
    prediction: PredictionRow
    results: Mapping[str, MetricResult]


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


def choose_metrics(names: Iterable[str] = DEFAULT_METRICS) -> tuple[Metric, ...]:
    """The metrics of these names, without repetitions, each with the one that is always shown with it.

    >>> [metric.name for metric in choose_metrics(["lf_em", "em"])]
    ['lf_em', 'lf_em_strict', 'em']
    """
    chosen: dict[str, Metric] = {}
    for name in names:
        for each in (name, _COMPANIONS.get(name)):
            if each is not None:
                chosen[each] = get_metric(each)
    return tuple(chosen.values())


def field_name(metric: Metric) -> str:
    """The metric's name in JSON and CSV files."""
    return _FIELD_NAMES.get(metric.name, metric.name)


def number_of_steps(decomposition: str) -> int:
    """How many steps a text has, whether or not they make sense.

    >>> number_of_steps("return flights ;;return #1 from denver ;return ")
    2
    """
    parts = (part.strip().lower() for part in decomposition.split(";"))
    return sum(part not in ("", "return") for part in parts)


class Describe(Protocol):
    """Turns scored questions into text, in the process that scored them."""

    def __call__(self, system: str, questions: Sequence[QuestionScores], metrics: Sequence[Metric], /) -> str:
        """The text of some questions of a system."""


def evaluate(
    gold: Gold,
    systems: Sequence[SystemPredictions],
    metrics: Sequence[Metric],
    options: MetricOptions | None = None,
    *,
    processes: int = 1,
    spread: Spread | None = None,
    keep_questions: bool = True,
    describe: Describe | None = None,
    write: Callable[[str], object] | None = None,
) -> Evaluation:
    """Score the systems' predictions; a question without a prediction gets the worst score and an error.

    For files of any size, do not keep the questions (``keep_questions``) but write them out as they come: ``write``
    gets the text that ``describe`` makes of them, system by system in the gold file's order. With several
    ``processes``, or with ``spread`` for workers on other machines, all metrics must be registered.
    """
    options = options or MetricOptions()
    functions = _load(metrics, options)
    # A file that is kept between runs is written once, not by each process.
    prepared_here = (processes == 1 and spread is None) or options.annotation_cache is not None
    for function in functions.values() if prepared_here else ():
        # The results are the same without it; if a row fails because of a mistake of ours, scoring it will say so.
        with suppress(InternalError), as_internal_errors():
            prepare(function, (row for system in systems for row in _scorable(_pairs(gold, system))))
    scored = []
    for system in systems:
        plan = ChunkPlan(system.name, tuple(metric.name for metric in metrics), options, keep_questions, describe)
        results: Iterator[ScoredChunk]
        if spread is not None:
            chunks = in_chunks(_pairs(gold, system), _ROWS_A_TASK)
            results = chain.from_iterable(
                spread(partial(_score_elsewhere, plan=plan), chunks, partial(_died_chunk, plan=plan))
            )
        elif processes == 1:
            results = (_score_chunk([pair], plan, functions) for pair in _pairs(gold, system))
        else:
            chunks = in_chunks(_pairs(gold, system), _ROWS_A_TASK)
            results = in_processes(partial(score_chunk, plan=plan), chunks, processes, ahead=3)
        scored.append(_collect(system, results, plan, len(gold.examples), write))
    return Evaluation(gold, tuple(metrics), tuple(scored))


@dataclass(frozen=True, slots=True)
class ChunkPlan:
    """What to do with some questions of a system; it can be sent to another process."""

    system: str
    metrics: tuple[str, ...]
    options: MetricOptions
    keep_questions: bool
    describe: Describe | None


@dataclass(frozen=True, slots=True)
class ScoredChunk:
    """The result for some questions of a system."""

    columns: ScoreColumns
    questions: tuple[QuestionScores, ...]
    text: str


def score_chunk(pairs: Sequence[Pair], plan: ChunkPlan) -> ScoredChunk:
    """Score some questions in any process; metrics are loaded once in each."""
    functions = _load_registered(plan.metrics, plan.options)
    for function in functions.values():
        with suppress(InternalError), as_internal_errors():
            prepare(function, _scorable(pairs))
    return _score_chunk(pairs, plan, functions)


def _score_elsewhere(pairs: Sequence[Pair], plan: ChunkPlan) -> list[ScoredChunk]:
    return [score_chunk(pairs, plan)]


def _died_chunk(pair: Pair, plan: ChunkPlan) -> ScoredChunk:
    """The result for a question that no worker survives: the worst score, and the reason."""
    results = {
        metric: MetricResult(_worst(metric), ROW_KILLED_WORKERS)
        for metric in (get_metric(name) for name in plan.metrics)
    }
    return _score_chunk([pair], plan, {metric: partial(_known, result) for metric, result in results.items()})


def _known(result: MetricResult, question: str, prediction: str, gold: str) -> MetricResult:
    return result


@lru_cache(maxsize=4)
def _load_registered(names: tuple[str, ...], options: MetricOptions) -> Mapping[Metric, MetricFunction]:
    return _load([get_metric(name) for name in names], options)


def _load(metrics: Iterable[Metric], options: MetricOptions) -> Mapping[Metric, MetricFunction]:
    return {metric: metric.load(options) for metric in metrics}


def _score_chunk(pairs: Sequence[Pair], plan: ChunkPlan, functions: Mapping[Metric, MetricFunction]) -> ScoredChunk:
    columns = ScoreColumns(plan.metrics)
    questions = []
    for example, prediction in pairs:
        question = QuestionScores(
            example=example,
            steps=number_of_steps(example.decomposition or ""),
            prediction=prediction,
            results={
                metric.name: _score(metric, function, example, prediction) for metric, function in functions.items()
            },
        )
        columns.add(example.source, question.steps, question.results)
        questions.append(question)
    text = "" if plan.describe is None else plan.describe(plan.system, questions, tuple(functions))
    return ScoredChunk(columns, tuple(questions) if plan.keep_questions else (), text)


def _collect(
    system: SystemPredictions,
    chunks: Iterable[ScoredChunk],
    plan: ChunkPlan,
    total: int,
    write: Callable[[str], object] | None,
) -> SystemScores:
    columns = ScoreColumns(plan.metrics)
    questions: list[QuestionScores] = []

    def rows() -> Iterator[None]:
        for chunk in chunks:
            columns.extend(chunk.columns)
            questions.extend(chunk.questions)
            if write is not None and chunk.text:
                write(chunk.text)
            yield from repeat(None, len(chunk.columns))

    for _ in progress(rows(), f"Scoring {system.name}", total):
        pass
    return SystemScores(system, columns, tuple(questions))


def _pairs(gold: Gold, system: SystemPredictions) -> Iterator[Pair]:
    return zip(gold.examples, system.predictions, strict=True)


def _scorable(pairs: Iterable[Pair]) -> Iterator[tuple[str, str, str]]:
    return (
        (example.question, prediction.text, example.decomposition)
        for example, prediction in pairs
        if prediction.text is not None and example.decomposition is not None
    )


def _score(metric: Metric, function: MetricFunction, example: BreakExample, prediction: PredictionRow) -> MetricResult:
    worst = _worst(metric)
    if example.decomposition is None:
        return MetricResult(worst, _NO_GOLD)
    if prediction.text is None:
        return MetricResult(worst, prediction.reason)
    try:
        with as_internal_errors():
            return function(example.question, prediction.text, example.decomposition)
    except InternalError as error:
        return MetricResult(worst, ErrorText.of(error))


def _worst(metric: Metric) -> float:
    return 1.0 if metric.lower_is_better else 0.0


def count_mistakes(evaluation: Evaluation) -> int:
    """How many questions of all systems have a result that failed because of a mistake in the code."""
    return sum(system.columns.mistakes for system in evaluation.systems)


def has_mistake(question: QuestionScores) -> bool:
    """Whether a result failed because of a mistake in the code."""
    return any(is_internal(result.error) for result in question.results.values())
