from __future__ import annotations

import os
import signal
from collections.abc import Iterable

import numpy as np
import pytest

from qdecomp.data_structures.errors import ErrorText, InternalError
from qdecomp.evaluation.formats import score_tables
from qdecomp.evaluation.metrics import Metric, MetricResult
from qdecomp.evaluation.outputs import detail_lines, summarize
from qdecomp.evaluation.predictions import PredictionRow
from qdecomp.evaluation.scoring import QuestionScores, SystemScores, score_systems
from qdecomp.files.break_csv import BreakExample
from qdecomp.files.jobs import ROW_KILLED_WORKERS, Where
from tests.evaluation.evaluation_examples import gold_of, system_of, told_evaluation, told_metric


@pytest.mark.parametrize(("lower_is_better", "worst"), [(False, 0.0), (True, 1.0)])
def test_a_missing_prediction_has_the_worst_score_and_an_error(lower_is_better: bool, worst: float) -> None:
    metric = told_metric("told", is_verdict=False, lower_is_better=lower_is_better)
    (system,) = told_evaluation({"s": ["0.5", None]}, [metric]).systems
    assert system.questions[1].results["told"] == MetricResult(worst, "prediction: missing")


def test_a_question_without_gold_is_wrong_and_no_metric_sees_it() -> None:
    (system,) = score_systems(
        gold_of({"A_1": None, "A_2": "return x"}), [system_of("s", ["1", "1"])], [told_metric("told")]
    ).systems
    assert [question.results["told"].value for question in system.questions] == [0.0, 1.0]
    assert system.questions[0].results["told"].error == "gold: no decomposition"


def test_a_metric_that_prepares_sees_the_scorable_rows_of_a_system_first() -> None:
    class Preparing:
        def __init__(self) -> None:
            self.rows: list[tuple[str, str, str]] = []

        def prepare(self, rows: Iterable[tuple[str, str, str]]) -> None:
            self.rows = list(rows)

        def __call__(self, question: str, prediction: str, gold: str) -> MetricResult:
            return MetricResult(float((question, prediction, gold) in self.rows))

    function = Preparing()
    gold = gold_of({"A_1": "return x", "A_2": "return y", "A_3": None})
    systems = [system_of("s", ["return x", None, "return z"]), system_of("t", ["return u", "return v", None])]
    evaluation = score_systems(gold, systems, [Metric("m", "M", function)])
    assert len(function.rows) == 2
    assert [question.results["m"].value for question in evaluation.systems[1].questions] == [1.0, 1.0, 0.0]


def test_what_has_no_value_is_said_in_details_and_tables() -> None:
    evaluation = told_evaluation({"s": ["0.5", "late"]}, [told_metric("graded", is_verdict=False)])
    first, second = detail_lines(evaluation)
    assert (first["graded"], first["error"]) == (0.5, None)
    assert (second["graded"], second["error"]) == (None, "prediction: step 2: 'late' is no number")
    note = score_tables(summarize(evaluation))[0].note
    assert "GRADED of s is over 1 questions: the other 1 have no value" in note


def kill_at(question: str, prediction: str, gold: str) -> MetricResult:
    """A metric that kills its process at a prediction, as a lack of memory would."""
    if prediction == "return kill":
        os.kill(os.getpid(), signal.SIGKILL)
    return MetricResult(float(prediction == gold))


def test_a_row_that_kills_workers_has_the_worst_score_and_the_reason() -> None:
    texts = ["return rivers"] * 130
    gold = gold_of({f"GEO_dev_{row}": text for row, text in enumerate(texts)})
    texts[70] = "return kill"
    metrics = [Metric("killing", "Killing", kill_at)]
    (scores,) = score_systems(gold, [system_of("s", texts)], metrics, where=Where(2)).systems
    results = [question.results["killing"] for question in scores.questions]
    assert [place for place, result in enumerate(results) if result.value != 1.0] == [70]
    assert results[70] == MetricResult(0.0, ROW_KILLED_WORKERS)


def test_columns_have_what_was_added() -> None:
    example = BreakExample(1, "A_1", "question?", "return x")
    results = [
        MetricResult(1.0),
        MetricResult(0.0, "prediction: step 3: refers to #7, but there are 5 steps"),
        MetricResult(None, "prediction: the time was up"),
        MetricResult(0.0, ErrorText.of(InternalError("IndexError", "a.py:3"))),
        MetricResult(0.0, "prediction: step 9: refers to #12, but there are 9 steps"),
    ]
    columns = SystemScores(
        system_of("s", []), ["m"], [QuestionScores(example, PredictionRow(None), {"m": each}) for each in results]
    )
    np.testing.assert_array_equal(columns.values("m"), [1.0, 0.0, np.nan, 0.0, 0.0])
    assert columns.failed("m").tolist() == [False, True, True, True, True]
    assert columns.internal_errors == 1
    reason, count = next(iter(columns.error_counts("m").items()))
    assert (reason, count) == ("prediction: step N: refers to #N, but there are N steps", 2)
