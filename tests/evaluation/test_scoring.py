from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.evaluation.metrics.metric_table import Metric, MetricResult
from qdecomp.evaluation.scoring import choose_metrics, evaluate, field_name
from qdecomp.workers.processes import ROW_KILLED_WORKERS
from tests.evaluation.evaluation_examples import gold_of, system_of, told_evaluation, told_metric


def test_metrics_are_chosen_once_and_strict_lf_em_comes_with_lf_em() -> None:
    assert [metric.name for metric in choose_metrics(["sari", "lf_em", "sari"])] == ["sari", "lf_em", "lf_em_strict"]
    assert [metric.name for metric in choose_metrics(["norm_em"])] == ["norm_em"]
    with pytest.raises(DataError, match="there is no metric 'bleu'"):
        choose_metrics(["bleu"])


def test_exact_match_has_its_long_name_in_files() -> None:
    assert [field_name(metric) for metric in choose_metrics(["em", "ged"])] == ["exact_match", "ged"]


def test_scores_every_question_of_every_system_with_real_metrics() -> None:
    gold = gold_of({"GEO_dev_1": "return rivers", "GEO_dev_2": "return lakes ;return the largest of #1"})
    systems = [
        system_of("good", ["return Rivers", "return lakes ;return the largest of #1"]),
        system_of("poor", ["return lakes", None]),
    ]
    evaluation = evaluate(gold, systems, choose_metrics(["em", "sari"]))
    values = {
        system.name: [[result.value for result in question.results.values()] for question in system.questions]
        for system in evaluation.systems
    }
    assert [pair[0] for pair in values["good"]] == [1.0, 1.0]
    assert [pair[0] for pair in values["poor"]] == [0.0, 0.0]
    assert values["good"][1][1] == pytest.approx(1.0)
    assert [question.steps for question in evaluation.systems[0].questions] == [1, 2]


@pytest.mark.parametrize(("lower_is_better", "worst"), [(False, 0.0), (True, 1.0)])
def test_a_missing_prediction_has_the_worst_score_and_an_error(lower_is_better: bool, worst: float) -> None:
    metric = told_metric("told", is_verdict=False, lower_is_better=lower_is_better)
    (system,) = told_evaluation({"s": ["0.5", None]}, [metric]).systems
    assert system.questions[1].results["told"] == MetricResult(worst, "prediction: missing")


def test_a_question_without_gold_is_wrong_and_no_metric_sees_it() -> None:
    (system,) = evaluate(
        gold_of({"A_1": None, "A_2": "return x"}), [system_of("s", ["1", "1"])], [told_metric("told")]
    ).systems
    assert [question.results["told"].value for question in system.questions] == [0.0, 1.0]
    assert system.questions[0].results["told"].error == "gold: no decomposition"


def test_a_metric_that_prepares_sees_all_scorable_rows_first() -> None:
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
    evaluation = evaluate(gold, systems, [Metric("m", "M", lambda options: function)])
    assert len(function.rows) == 3
    assert [question.results["m"].value for question in evaluation.systems[1].questions] == [1.0, 1.0, 0.0]


def test_alike_errors_are_counted_together() -> None:
    metric = told_metric("told")
    (system,) = told_evaluation({"s": ["1", "one", "two", None]}, [metric]).systems
    assert system.columns.error_counts("told") == {"prediction: step N: … is no number": 2, "prediction: missing": 1}


def test_a_row_that_kills_workers_has_the_worst_score_and_the_reason() -> None:
    def spread(
        work: Callable[[Sequence[Any]], Sequence[Any]],
        partitions: Iterable[Sequence[Any]],
        died: Callable[[Any], Any],
    ) -> Iterator[Sequence[Any]]:
        for pairs in partitions:
            yield [work([pairs[0]])[0], died(pairs[1])]

    gold = gold_of({"GEO_dev_1": "return rivers", "GEO_dev_2": "return lakes"})
    systems = [system_of("s", ["return rivers", "return lakes"])]
    (scores,) = evaluate(gold, systems, choose_metrics(["em", "ged"]), spread=spread).systems
    results = [[(each.value, each.error) for each in question.results.values()] for question in scores.questions]
    assert results == [[(1.0, None), (0.0, None)], [(0.0, ROW_KILLED_WORKERS), (1.0, ROW_KILLED_WORKERS)]]
