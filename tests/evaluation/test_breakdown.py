import warnings

import pytest

from qdecomp.evaluation import breakdown
from qdecomp.evaluation.breakdown import Score, break_down, mean_interval, score_group
from qdecomp.evaluation.scoring import evaluate
from tests.evaluation.evaluation_examples import gold_of, system_of, told_evaluation, told_metric

VERDICT = told_metric("verdict")


def test_means_overall_by_source_and_by_steps() -> None:
    # Rows 0, 2, 4 are of DROP and 1, 3, 5 of GEO; the numbers of steps are 1, 2, 3, 1, 2, 3.
    (system,) = told_evaluation({"s": ["1", "0", "1", "0", "0", "0"]}, [VERDICT]).systems
    result = break_down(system.columns, [VERDICT])
    assert result.overall.scores["verdict"].mean == pytest.approx(2 / 6)
    assert [(group.name, group.questions) for group in result.by_source] == [("DROP", 3), ("GEO", 3)]
    assert [group.scores["verdict"].mean for group in result.by_source] == [pytest.approx(2 / 3), 0.0]
    assert [group.name for group in result.by_steps] == ["1", "2", "3"]
    assert [group.scores["verdict"].mean for group in result.by_steps] == [0.5, 0.0, 0.5]


def test_steps_are_in_numerical_order() -> None:
    gold = gold_of({f"A_{steps}": "return x ;" * steps for steps in (12, 2, 1)})
    (system,) = evaluate(gold, [system_of("s", ["1"] * 3)], [VERDICT]).systems
    assert [group.name for group in break_down(system.columns, [VERDICT]).by_steps] == ["1", "2", "12"]


def test_the_interval_holds_the_mean_and_narrows_with_more_questions() -> None:
    few, many = (told_evaluation({"s": ["1", "0"] * count}, [VERDICT]).systems[0] for count in (20, 500))
    few_score, many_score = (score_group("all", system.columns, [VERDICT]).scores["verdict"] for system in (few, many))
    for score in (few_score, many_score):
        assert score.low is not None
        assert score.high is not None
        assert score.low < 0.5 < score.high
    # The normal approximation for 1,000 throws of a fair coin: 0.5 ± 1.96 · 0.0158.
    assert many_score.low == pytest.approx(0.469, abs=0.006)
    assert many_score.high == pytest.approx(0.531, abs=0.006)
    assert few_score.high - few_score.low > many_score.high - many_score.low


def test_one_seed_gives_one_interval_whatever_else_is_scored() -> None:
    graded = told_metric("graded", is_verdict=False)
    (system,) = told_evaluation({"s": [str(row / 40) for row in range(40)]}, [VERDICT, graded]).systems
    alone = score_group("all", system.columns, [graded], seed=3).scores["graded"]
    beside = score_group("all", system.columns, [VERDICT, graded], seed=3).scores["graded"]
    assert alone == beside
    assert score_group("all", system.columns, [graded], seed=4).scores["graded"] != alone


def test_equal_scores_have_an_interval_without_width_and_no_warning() -> None:
    (system,) = told_evaluation({"s": ["1"] * 5}, [VERDICT]).systems
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert score_group("all", system.columns, [VERDICT]).scores["verdict"] == Score(1.0, 1.0, 1.0, 5, 0)


def test_one_question_has_no_interval() -> None:
    (system,) = told_evaluation({"s": ["1"]}, [VERDICT]).systems
    assert score_group("all", system.columns, [VERDICT]).scores["verdict"] == Score(1.0, None, None, 1, 0)


def test_two_questions_have_an_interval_from_one_to_the_other() -> None:
    assert mean_interval([0.0, 1.0]) == (0.0, 1.0)


def test_what_has_no_value_is_left_out_of_the_mean_and_counted() -> None:
    graded = told_metric("graded", is_verdict=False)
    (system,) = told_evaluation({"s": ["0.5", "time is up", "0.7", None]}, [VERDICT, graded]).systems
    score = score_group("all", system.columns, [graded]).scores["graded"]
    assert (score.mean, score.questions, score.errors) == (pytest.approx(0.4), 3, 2)
    assert score.low is not None
    (none,) = told_evaluation({"s": ["time is up"] * 3}, [graded]).systems
    assert score_group("all", none.columns, [graded]).scores["graded"] == Score(None, None, None, 0, 3)


def test_resamples_of_many_questions_are_counts_and_give_the_same_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [0.0, 1.0, 1.0, 0.25, 0.7] * 400
    drawn = mean_interval(values)
    monkeypatch.setattr(breakdown, "_QUESTIONS_TO_COUNT", len(values))
    counted = mean_interval(values)
    assert counted == mean_interval(values)
    assert counted != drawn
    # Both vary by chance; the standard deviation of the mean is .009.
    assert counted == (pytest.approx(drawn[0], abs=0.003), pytest.approx(drawn[1], abs=0.003))
    # In pieces, where the values do not fit into memory at once.
    monkeypatch.setattr(breakdown, "_VALUES_AT_A_TIME", 1_000)
    assert mean_interval(values) == (pytest.approx(drawn[0], abs=0.003), pytest.approx(drawn[1], abs=0.003))
    assert mean_interval([1.0] * len(values)) == (1.0, 1.0)
