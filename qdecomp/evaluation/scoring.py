"""Every metric on every question of every system."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from qdecomp.data_structures.error_kinds import kinds_in_message
from qdecomp.data_structures.mistakes import OurMistakeError, as_row_errors, is_mistake
from qdecomp.files import BreakExample
from qdecomp.terminal.progress import progress

from .metrics.metric_table import (
    DEFAULT_METRICS,
    Metric,
    MetricFunction,
    MetricOptions,
    MetricResult,
    get_metric,
    prepare,
)
from .predictions import Gold, PredictionRow, SystemPredictions

__all__ = [
    "Evaluation",
    "QuestionScores",
    "SystemScores",
    "choose_metrics",
    "count_mistakes",
    "error_counts",
    "evaluate",
    "field_name",
    "has_mistake",
    "number_of_steps",
]

# A metric that is always shown beside another one: the reader of a published score is to see the strict one too.
_COMPANIONS = {"lf_em": "lf_em_strict"}
# The names in files follow those of Break's evaluator where they are not the names of the command line.
_FIELD_NAMES = {"em": "exact_match"}

_NO_GOLD = "gold: no decomposition"


@dataclass(frozen=True, slots=True)
class QuestionScores:
    """A question, a system's prediction and the result of each metric by its name."""

    example: BreakExample
    steps: int
    prediction: PredictionRow
    results: Mapping[str, MetricResult]


@dataclass(frozen=True, slots=True)
class SystemScores:
    """All questions of one system, in the gold file's order."""

    system: SystemPredictions
    questions: tuple[QuestionScores, ...]

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
    """The metrics of these names, without repetitions, each with the one that is always shown beside it.

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
    """How many steps a text has, whether they make sense or not.

    >>> number_of_steps("return flights ;;return #1 from denver ;return ")
    2
    """
    parts = (part.strip().lower() for part in decomposition.split(";"))
    return sum(part not in ("", "return") for part in parts)


def evaluate(
    gold: Gold,
    systems: Sequence[SystemPredictions],
    metrics: Sequence[Metric],
    options: MetricOptions | None = None,
) -> Evaluation:
    """Score the systems' predictions; a question without a prediction gets the worst score and an error."""
    functions = {metric: metric.load(options or MetricOptions()) for metric in metrics}
    rows = [row for system in systems for row in _scorable(gold, system)]
    for function in functions.values():
        # The results are the same without; the row that a mistake of ours is about says so when it is scored.
        with suppress(OurMistakeError), as_row_errors():
            prepare(function, rows)
    return Evaluation(gold, tuple(metrics), tuple(_score_system(gold, system, functions) for system in systems))


def _scorable(gold: Gold, system: SystemPredictions) -> list[tuple[str, str, str]]:
    return [
        (example.question, prediction.text, example.decomposition)
        for example, prediction in zip(gold.examples, system.predictions, strict=True)
        if prediction.text is not None and example.decomposition is not None
    ]


def _score_system(gold: Gold, system: SystemPredictions, functions: Mapping[Metric, MetricFunction]) -> SystemScores:
    pairs = zip(gold.examples, system.predictions, strict=True)
    questions = tuple(
        QuestionScores(
            example=example,
            steps=number_of_steps(example.decomposition or ""),
            prediction=prediction,
            results={
                metric.name: _score(metric, function, example, prediction) for metric, function in functions.items()
            },
        )
        for example, prediction in progress(pairs, f"Scoring {system.name}", len(gold.examples))
    )
    return SystemScores(system, questions)


def _score(metric: Metric, function: MetricFunction, example: BreakExample, prediction: PredictionRow) -> MetricResult:
    worst = 1.0 if metric.lower_is_better else 0.0
    if example.decomposition is None:
        return MetricResult(worst, _NO_GOLD)
    if prediction.text is None:
        return MetricResult(worst, prediction.reason)
    try:
        with as_row_errors():
            return function(example.question, prediction.text, example.decomposition)
    except OurMistakeError as error:
        return MetricResult(worst, str(error))


def count_mistakes(evaluation: Evaluation) -> int:
    """How many questions of all systems have a result that a mistake in the code has spoilt."""
    return sum(has_mistake(question) for system in evaluation.systems for question in system.questions)


def has_mistake(question: QuestionScores) -> bool:
    """Whether a mistake in the code has spoilt a result."""
    return any(is_mistake(result.error) for result in question.results.values())


def error_counts(system: SystemScores, metric: Metric) -> dict[str, int]:
    """How many questions have an error under a metric for which kind of reason, the commonest first."""
    errors: Counter[str] = Counter()
    for question in system.questions:
        errors.update(kinds_in_message(question.results[metric.name].error or ""))
    del errors[""]
    return dict(sorted(errors.items(), key=lambda item: (-item[1], item[0])))
