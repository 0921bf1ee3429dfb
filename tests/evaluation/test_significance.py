import pytest

from qdecomp.evaluation.significance import compare_systems
from tests.evaluation.evaluation_examples import told_evaluation, told_metric

VERDICT = told_metric("verdict")
GRADED = told_metric("graded", is_verdict=False)
DISTANCE = told_metric("distance", is_verdict=False, lower_is_better=True)


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


def test_of_a_distance_the_smaller_is_the_better() -> None:
    (comparison,) = compare_systems(told_evaluation({"near": ["0.1", "0.2"], "far": ["0.3", "0.3"]}, [DISTANCE]))
    assert (comparison.first_better, comparison.second_better) == (2, 0)
    assert comparison.difference == pytest.approx(-0.15)


@pytest.mark.parametrize("metric", [VERDICT, GRADED])
def test_equal_systems_do_not_differ(metric) -> None:
    (comparison,) = compare_systems(told_evaluation({"a": ["1", "0", "1"], "b": ["1", "0", "1"]}, [metric]))
    assert (comparison.p_value, comparison.difference) == (1.0, 0.0)


def test_one_difference_proves_nothing() -> None:
    (comparison,) = compare_systems(told_evaluation({"a": ["0.5", "0.3"], "b": ["0.5", "0.4"]}, [GRADED]))
    assert comparison.p_value == 1.0


def test_every_two_systems_are_compared_and_adjusted() -> None:
    values = {"a": ["1"] * 10 + ["0"] * 2, "b": ["0"] * 10 + ["1"] * 2, "c": ["1", "0"] * 6}
    comparisons = compare_systems(told_evaluation(values, [VERDICT]))
    assert [(each.first, each.second) for each in comparisons] == [("a", "b"), ("a", "c"), ("b", "c")]
    # 10 of 12 and twice 5 of 6 fair throws. Holm multiplies the smallest by three and the next by two; the last would
    # stay as it is, but may not fall below the one before.
    assert [each.p_value for each in comparisons] == pytest.approx([158 / 4096, 14 / 64, 14 / 64])
    assert [each.p_adjusted for each in comparisons] == pytest.approx([3 * 158 / 4096, 2 * 14 / 64, 2 * 14 / 64])


def test_questions_without_a_value_are_left_out() -> None:
    (comparison,) = compare_systems(told_evaluation({"a": ["0.5", "late", "0.7"], "b": ["0.4", "0.1", "?"]}, [GRADED]))
    assert comparison.questions == 1
    assert compare_systems(told_evaluation({"a": ["late"], "b": ["0.1"]}, [GRADED])) == ()


def test_one_system_has_nobody_to_be_compared_with() -> None:
    assert compare_systems(told_evaluation({"a": ["1"]}, [VERDICT])) == ()
