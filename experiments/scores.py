"""LF-EM of predictions: each run separately, and systems as the mean over their runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean, stdev

from qdecomp.evaluation.metrics import MetricResult, get_metric
from qdecomp.evaluation.predictions import Gold, read_predictions
from qdecomp.evaluation.scoring import Evaluation, QuestionScores, ScoreColumns, SystemScores, evaluate
from qdecomp.evaluation.statistics import Comparison, compare_systems, mean_interval

from .results import Entry

__all__ = [
    "LF_EM",
    "averaged",
    "compare",
    "entry",
    "figure",
    "score_predictions",
    "value_of",
    "with_questions",
]

LF_EM = "lf_em"
Chooser = Callable[[QuestionScores], bool]


def score_predictions(gold: Gold, title: str, path: Path) -> SystemScores:
    """The scores of a file of predictions."""
    predictions = read_predictions(path, gold, title)
    return evaluate(gold, [predictions], [get_metric(LF_EM)]).systems[0]


def averaged(runs: Sequence[SystemScores]) -> SystemScores:
    """A system whose score on a question is the mean over its runs."""
    if len(runs) == 1:
        return runs[0]
    questions = [
        replace(same[0], results={LF_EM: MetricResult(mean(map(value_of, same)))})
        for same in zip(*(run.questions for run in runs), strict=True)
    ]
    return with_questions(runs[0], questions)


def with_questions(run: SystemScores, questions: Sequence[QuestionScores]) -> SystemScores:
    """A run with other questions."""
    return SystemScores(run.system, ScoreColumns((LF_EM,), questions), tuple(questions))


def value_of(question: QuestionScores) -> float:
    """LF-EM of a question."""
    return question.results[LF_EM].value or 0.0


def entry(row: str, column: str, runs: Sequence[SystemScores], chosen: Chooser | None = None) -> Entry:
    """LF-EM of a system's runs, on the chosen questions."""
    return figure(row, column, [[value_of(question) for question in _chosen(run, chosen)] for run in runs])


def figure(row: str, column: str, runs: Sequence[Sequence[float]]) -> Entry:
    """The mean of the values of all runs, its standard deviation over runs, and its bootstrap interval over questions.

    Runs over different numbers of questions cannot be averaged question by question, and have no interval.
    """
    means = [mean(values) for values in runs if values]
    if not means:
        return Entry(row, column)
    deviation = stdev(means) if len(means) > 1 else None
    low = high = None
    if len({len(values) for values in runs}) == 1:
        low, high = mean_interval([mean(same) for same in zip(*runs, strict=True)])
    return Entry(row, column, mean(means), deviation, low, high, len(means), len(runs[0]))


def _chosen(run: SystemScores, chosen: Chooser | None) -> tuple[QuestionScores, ...]:
    return run.questions if chosen is None else tuple(question for question in run.questions if chosen(question))


def compare(
    systems: Sequence[Sequence[SystemScores]], gold: Gold, chosen: Chooser | None = None
) -> tuple[Comparison, ...]:
    """Paired tests of every two systems that have runs.

    With one run each it is McNemar's exact test; with several, a permutation test of the questions' means.
    """
    present = [averaged(runs) for runs in systems if runs]
    single = all(len(runs) == 1 for runs in systems if runs)
    narrowed = tuple(with_questions(each, _chosen(each, chosen)) for each in present)
    if len(narrowed) < 2 or not narrowed[0].questions:
        return ()
    return compare_systems(Evaluation(gold, (replace(get_metric(LF_EM), is_verdict=single),), narrowed))
