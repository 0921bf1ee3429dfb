from __future__ import annotations

from operator import attrgetter

import numpy as np
import pytest

from qdecomp.evaluation import statistics
from qdecomp.evaluation.metrics import Metric
from qdecomp.evaluation.scoring import Evaluation
from qdecomp.evaluation.statistics import Score, Settings, compare_systems, mean_interval, places_by, score_groups
from tests.evaluation.evaluation_examples import told_evaluation, told_metric

VERDICT = told_metric("verdict")
GRADED = told_metric("graded", is_verdict=False)


def scores_of(evaluation: Evaluation, seed: int = 0) -> dict[str, Score]:
    """The scores of the first system on all questions."""
    (group,) = score_groups(evaluation, {"all": np.arange(len(evaluation.gold.examples))}, Settings(seed))
    return dict(next(iter(group.scores.values())))


def test_means_overall_by_source_and_by_steps() -> None:
    # Rows 0, 2, 4 are of DROP and 1, 3, 5 of GEO; the numbers of steps are 1, 2, 3, 1, 2, 3.
    evaluation = told_evaluation({"s": ["1", "0", "1", "0", "0", "0"]}, [VERDICT])
    assert scores_of(evaluation)["verdict"].mean == pytest.approx(2 / 6)
    by_source, by_steps = (
        score_groups(evaluation, places_by(map(attrgetter(key), evaluation.gold.examples)))
        for key in ("source", "steps")
    )
    assert [(group.name, group.questions) for group in by_source] == [("DROP", 3), ("GEO", 3)]
    assert [group.scores["s"]["verdict"].mean for group in by_source] == [pytest.approx(2 / 3), 0.0]
    assert [group.name for group in by_steps] == ["1", "2", "3"]
    assert [group.scores["s"]["verdict"].mean for group in by_steps] == [0.5, 0.0, 0.5]


def test_the_interval_holds_the_mean_and_narrows_with_more_questions() -> None:
    few_score, many_score = (
        scores_of(told_evaluation({"s": ["1", "0"] * count}, [VERDICT]))["verdict"] for count in (20, 500)
    )
    for score in (few_score, many_score):
        assert score.low is not None
        assert score.high is not None
        assert score.low < 0.5 < score.high
    # The normal approximation for 1,000 throws of a fair coin: 0.5 ± 1.96 · 0.0158.
    assert many_score.low == pytest.approx(0.469, abs=0.006)
    assert many_score.high == pytest.approx(0.531, abs=0.006)
    assert few_score.high - few_score.low > many_score.high - many_score.low


def test_one_seed_gives_one_interval_whatever_else_is_scored() -> None:
    values = {"s": [str(row / 40) for row in range(40)]}
    alone, beside = (told_evaluation(values, metrics) for metrics in ([GRADED], [VERDICT, GRADED]))
    assert scores_of(alone, 3)["graded"] == scores_of(beside, 3)["graded"] != scores_of(alone, 4)["graded"]


@pytest.mark.parametrize(
    ("values", "score"),
    [
        (["1"] * 5, Score(1.0, 1.0, 1.0, 5, 0)),
        (["1"], Score(1.0, None, None, 1, 0)),
        (["0", "1"], Score(0.5, 0.0, 1.0, 2, 0)),
    ],
)
@pytest.mark.filterwarnings("error")
def test_intervals_of_equal_scores_and_of_few_questions(values: list[str], score: Score) -> None:
    assert scores_of(told_evaluation({"s": values}, [VERDICT]))["verdict"] == score


def test_what_has_no_value_is_left_out_of_the_mean_and_counted() -> None:
    score = scores_of(told_evaluation({"s": ["0.5", "time is up", "0.7", None]}, [VERDICT, GRADED]))["graded"]
    assert (score.mean, score.questions, score.errors) == (pytest.approx(0.4), 3, 2)
    assert score.low is not None
    none = told_evaluation({"s": ["time is up"] * 3}, [GRADED])
    assert scores_of(none)["graded"] == Score(None, None, None, 0, 3)


def test_values_that_do_not_fit_into_memory_at_once_are_resampled_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [0.0, 1.0, 1.0, 0.25, 0.7] * 400
    drawn = mean_interval(values)
    monkeypatch.setattr(statistics, "_VALUES_AT_A_TIME", 1_000)
    assert mean_interval(values) == drawn


def test_verdicts_are_compared_by_exact_mcnemar() -> None:
    # Only the first is right 8 times, only the second once: P(X ≤ 1 or X ≥ 8) of 9 fair throws is 20/512.
    values = {"first": ["1"] * 8 + ["0"] + ["1"] * 5, "second": ["0"] * 8 + ["1"] + ["1"] * 5}
    (comparison,) = compare_systems(told_evaluation(values, [VERDICT]))
    assert comparison.test == "exact McNemar"
    assert (comparison.first_better, comparison.second_better) == (8, 1)
    assert comparison.difference == pytest.approx(7 / 14)
    assert comparison.p_value == pytest.approx(20 / 512)


def test_graded_scores_are_compared_by_permutation() -> None:
    # Six differences of one sign: of the 64 ways to set the signs two are as extreme.
    values = {"first": ["0.6", "0.7", "0.9", "0.4", "0.5", "0.8"], "second": ["0.1"] * 6}
    (comparison,) = compare_systems(told_evaluation(values, [GRADED]))
    assert comparison.test == "paired permutation"
    assert comparison.p_value == pytest.approx(2 / 64)


@pytest.mark.parametrize(
    ("metric", "other", "difference"),
    # One difference proves nothing.
    [(VERDICT, "0", 0.0), (GRADED, "0", 0.0), (GRADED, "0.3", -0.1)],
)
def test_equal_systems_do_not_differ(metric: Metric, other: str, difference: float) -> None:
    (comparison,) = compare_systems(told_evaluation({"a": ["1", "0", "1"], "b": ["1", other, "1"]}, [metric]))
    assert (comparison.p_value, comparison.difference) == (1.0, pytest.approx(difference))


def test_every_two_systems_are_compared_and_adjusted() -> None:
    values = {"a": ["1"] * 10 + ["0"] * 2, "b": ["0"] * 10 + ["1"] * 2, "c": ["1", "0"] * 6}
    comparisons = compare_systems(told_evaluation(values, [VERDICT]))
    assert [(each.first, each.second) for each in comparisons] == [("a", "b"), ("a", "c"), ("b", "c")]
    # 10 of 12 and twice 5 of 6 fair throws. Holm multiplies the smallest by three and the next by two; the last would
    # stay as it is, but may not fall below the one before.
    assert [each.p_value for each in comparisons] == pytest.approx([158 / 4096, 14 / 64, 14 / 64])
    assert [each.p_adjusted for each in comparisons] == pytest.approx([3 * 158 / 4096, 2 * 14 / 64, 2 * 14 / 64])


def test_questions_without_a_value_are_left_out_and_one_system_has_no_comparison() -> None:
    (comparison,) = compare_systems(told_evaluation({"a": ["0.5", "late", "0.7"], "b": ["0.4", "0.1", "?"]}, [GRADED]))
    assert comparison.questions == 1
    assert compare_systems(told_evaluation({"a": ["late"], "b": ["0.1"]}, [GRADED])) == ()
    assert compare_systems(told_evaluation({"a": ["1"]}, [VERDICT])) == ()
