"""LF-EM and other verdicts of cells as figures: of each run separately, and of systems as the mean over their runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from qdecomp.evaluation.metrics import MetricResult, get_metric
from qdecomp.evaluation.predictions import Gold, PredictionRow, SystemPredictions, read_gold
from qdecomp.evaluation.scoring import Evaluation, QuestionScores, SystemScores
from qdecomp.evaluation.statistics import compare_systems, mean_interval
from qdecomp.files import BreakExample

from .cells import cells_of
from .results import Entry, Test
from .settings import Settings
from .verdicts import METRICS, asked_ids, has_verdicts, read_verdicts, verdicts_of

LF_EM = METRICS[0]


@dataclass(frozen=True, slots=True)
class Scores:
    """The verdicts of an experiment's cells."""

    gold: Gold
    questions: pd.DataFrame
    """The source and the number of gold steps of each question, by its id."""
    runs: Mapping[tuple[str, str], Mapping[str, pd.DataFrame]]
    """Of each system and split and each metric, a column of verdicts for each run, by question."""
    minutes: Mapping[tuple[str, str], list[float]]
    """The minutes of a core that the training runs took."""

    @staticmethod
    def of(experiment: str, settings: Settings, base: Path) -> Scores:
        """The verdicts of all cells that have been run."""
        gold = read_gold(settings.dev)
        kept = read_verdicts(settings)
        columns: dict[tuple[str, str], dict[str, dict[str, pd.Series[float]]]] = {}
        minutes: dict[tuple[str, str], list[float]] = {}
        for cell in cells_of(experiment, settings):
            found = verdicts_of(cell, kept if has_verdicts(experiment, cell, kept) else {}, base)
            if found is None:
                continue
            key, ids = (cell.system.name, cell.split), asked_ids(cell, gold)
            by_metric = columns.setdefault(key, {name: {} for name in METRICS})
            for name, verdicts in found.verdicts.items():
                by_metric[name][cell.run] = pd.Series([float(verdict) for verdict in verdicts], ids)
            if found.minutes is not None:
                minutes.setdefault(key, []).append(found.minutes)
        runs = {key: {name: pd.DataFrame(each) for name, each in by.items()} for key, by in columns.items()}
        questions = pd.DataFrame(
            {
                "source": [example.source for example in gold.examples],
                "steps": [example.steps for example in gold.examples],
            },
            [example.question_id for example in gold.examples],
        )
        return Scores(gold, questions, runs, minutes)

    def of_system(self, system: str, split: str, metric: str = LF_EM) -> pd.DataFrame:
        """The runs of a system on a split; without columns if none has been made."""
        return self.runs.get((system, split), {}).get(metric, pd.DataFrame())

    def chosen(self, runs: pd.DataFrame, what: str, least: object, most: object | None = None) -> pd.DataFrame:
        """The questions of runs whose ``source`` or ``steps`` is this, or is between two values."""
        column = self.questions.loc[runs.index, what]
        return runs[column.between(least, least if most is None else most)]


def figure(row: str, column: str, runs: pd.DataFrame) -> Entry:
    """The mean of the values of all runs, its standard deviation over runs, and its bootstrap interval over questions.

    Runs over different questions, in which some values are missing, have no interval.
    """
    means = runs.mean().dropna()
    if means.empty:
        return Entry(row, column)
    low = high = None
    if runs.notna().all(axis=None):
        low, high = mean_interval(runs.mean(axis=1).tolist())
    deviation = float(means.std()) if len(means) > 1 else None
    return Entry(row, column, float(means.mean()), deviation, low, high, len(means), int(runs.iloc[:, 0].count()))


def compare(where: str, systems: Mapping[str, pd.DataFrame], gold: Gold) -> list[Test]:
    """Paired tests of LF-EM between every two systems that have runs on the same questions.

    With one run each it is McNemar's exact test; with several, a permutation test of the questions' means.
    """
    present = {title: runs for title, runs in systems.items() if not runs.empty}
    metric = replace(get_metric(LF_EM), is_verdict=all(runs.shape[1] == 1 for runs in present.values()))
    if len(present) < 2:
        return []
    scored = tuple(_system_scores(title, runs.mean(axis=1)) for title, runs in present.items())
    return [Test(where, comparison) for comparison in compare_systems(Evaluation(gold, (metric,), scored))]


def _system_scores(title: str, values: pd.Series[float]) -> SystemScores:
    questions = [
        QuestionScores(BreakExample(0, str(key), "", None), PredictionRow(None), {LF_EM: MetricResult(float(value))})
        for key, value in values.items()
    ]
    return SystemScores(SystemPredictions(title, Path(), len(values), ()), (LF_EM,), questions)
