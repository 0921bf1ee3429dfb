from __future__ import annotations

import math
import random
from dataclasses import replace

import numpy as np
import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.parsers.calibration import (
    Calibration,
    calibration_from_json,
    expected_calibration_error,
    fit_calibration,
    fit_kind,
    kept_shares,
)
from qdecomp.parsers.decomposition import Decomposition


def sample(count: int, seed: int) -> tuple[list[Decomposition], list[bool]]:
    """Predictions that are less sure of themselves than they should be: the share of right ones is the square root."""
    generator = random.Random(seed)
    predictions, right = [], []
    for _ in range(count):
        probability = generator.uniform(0.001, 1)
        steps = " ;".join(["return a b"] * generator.randint(1, 5))
        predictions.append(Decomposition("", steps, score=math.log(probability), margin=generator.uniform(0, 3)))
        right.append(generator.random() < probability**0.5)
    return predictions, right


def test_confidence_is_near_the_share_of_right_plans_on_other_rows() -> None:
    calibration = fit_calibration(*sample(2000, seed=1))
    others, right = sample(4000, seed=2)
    confidences = [calibration(each) for each in others]
    raw = [math.exp(each.score or 0.0) for each in others]
    assert expected_calibration_error(confidences, right) < 0.04
    assert expected_calibration_error(raw, right) > 0.1


def test_it_survives_json() -> None:
    calibration = fit_calibration(*sample(200, seed=3))
    assert calibration_from_json(calibration.to_json()) == calibration
    assert calibration_from_json(None) is None


@pytest.mark.parametrize(
    "value",
    [
        [],
        {},
        {"weights": {"score": "1"}, "bias": 0},
        {"weights": {"luck": 1}, "bias": 0},
        {"weights": {}},
        {"weights": {}, "bias": 10**400},
        {"weights": {"score": math.inf}, "bias": 0},
        {"weights": {"score": math.nan}, "bias": 0},
        {"weights": {}, "bias": 0, "kind": [1.0]},
        {"weights": {}, "bias": 0, "kind": {"weights": [1.0]}},
        {"weights": {}, "bias": 0, "kind": {"weights": [1.0, "2"], "bias": 0}},
    ],
)
def test_what_is_no_calibration_is_said(value: object) -> None:
    with pytest.raises(DataError, match=r"a calibration (must have|has)"):
        calibration_from_json(value)


def test_kinds_of_questions_are_told_apart_and_confidence_knows_them() -> None:
    generator = np.random.default_rng(5)
    first, others = ([generator.normal(mean, 1, (6, 8)) for _ in range(200)] for mean in (0.5, -0.5))
    kind = fit_kind(first[:100], others[:100])
    assert sum(kind(words) > 0.5 for words in first[100:]) > 90
    assert sum(kind(words) < 0.5 for words in others[100:]) > 90

    for wrong in ((first, []), ([], others), ([np.zeros((0, 0))], others)):
        with pytest.raises(DataError, match="two kinds of questions"):
            fit_kind(*wrong)
    with pytest.raises(DataError, match="another encoder"):
        kind(np.zeros((6, 9)))

    # Plans of the same score are right for the first kind only.
    plans = [replace(each, score=-1.0, kind=float(n % 2)) for n, each in enumerate(sample(400, seed=6)[0])]
    calibration = replace(fit_calibration(plans, [each.kind == 1 for each in plans]), kind=kind)
    assert calibration(plans[1]) > 0.9 > 0.1 > calibration(plans[0])
    assert calibration_from_json(calibration.to_json()) == calibration


def test_too_few_rows_or_only_right_ones_are_said() -> None:
    predictions, right = sample(10, seed=4)
    with pytest.raises(DataError, match="needs 50 questions or more"):
        fit_calibration(predictions, right)
    with pytest.raises(DataError, match="100, 100 of them right"):
        fit_calibration(predictions * 10, [True] * 100)


def test_what_has_no_plan_has_no_confidence() -> None:
    calibration = Calibration({"score": 1.0}, 0.0)
    assert calibration(Decomposition("", error="no")) is None
    assert calibration(Decomposition("", "return a", score=0.0)) == 0.5
    assert calibration(Decomposition("", "return a", score=-math.inf)) == pytest.approx(0.0, abs=1e-12)


def test_thresholds_say_what_is_kept_and_how_much_of_it_is_right() -> None:
    rows = kept_shares([0.8, 0.6, 0.3, 0.1], [True, False, True, False])
    assert rows[0] == (0.0, 1.0, 0.5)
    assert rows[-3:] == [(0.6, 0.5, 0.5), (0.8, 0.25, 1.0), (0.9, 0.0, None)]
    with pytest.raises(DataError, match="no confidence"):
        expected_calibration_error([], [])
