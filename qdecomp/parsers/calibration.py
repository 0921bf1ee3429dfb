"""Confidence that means something: of the plans with confidence .8, about eight in ten are right.

A calibration is a logistic function of what is known about a prediction before its gold answer is. It is fitted on
held-out questions, and stored with the parser.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from qdecomp.data_structures.errors import DataError
from qdecomp.parsers.decomposition import Decomposition

__all__ = [
    "FEATURES",
    "CalibratedParser",
    "Calibration",
    "KeptShare",
    "ReliabilityBin",
    "calibration_from_json",
    "expected_calibration_error",
    "fit_calibration",
    "kept_shares",
    "reliability_bins",
]

_LOWEST_SCORE = -60.0
_WIDEST_MARGIN = 10.0
_RIDGE = 1e-2
_ROUNDS = 50
_FEWEST_ROWS = 50


def _score(prediction: Decomposition) -> float:
    return max(prediction.score or 0.0, _LOWEST_SCORE)


def _word_count(prediction: Decomposition) -> int:
    return len((prediction.text or "").split())


def _step_count(prediction: Decomposition) -> int:
    return (prediction.text or "").count("return")


def _margin(prediction: Decomposition) -> float:
    if prediction.margin is None:
        return 0.0
    return min(prediction.margin, _WIDEST_MARGIN)


FEATURES: Mapping[str, Callable[[Decomposition], float]] = MappingProxyType(
    {
        "score": _score,
        "probability": lambda prediction: math.exp(_score(prediction)),
        "score by word": lambda prediction: _score(prediction) / max(1, _word_count(prediction)),
        "steps": lambda prediction: float(_step_count(prediction)),
        "margin": _margin,
    }
)
"""The features of a calibration; the margin is how much more probable the answer is than the next best, in nats."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Weights of features, and what is added to their sum before the logistic function."""

    weights: Mapping[str, float]
    bias: float

    def __call__(self, prediction: Decomposition) -> float | None:
        """The probability that a prediction is right; None if there is nothing to go by."""
        if prediction.text is None or prediction.score is None:
            return None
        total = self.bias + sum(weight * FEATURES[name](prediction) for name, weight in self.weights.items())
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total))))

    def to_json(self) -> dict[str, Any]:
        """For the config of a bundle."""
        return {"weights": dict(self.weights), "bias": self.bias}


@dataclass(frozen=True, slots=True)
class CalibratedParser:
    """Gives every prediction of a parser its calibrated confidence."""

    predict: Callable[[Sequence[str]], Sequence[Decomposition]]
    calibration: Calibration

    def __call__(self, questions: Sequence[str]) -> list[Decomposition]:
        """The predictions for a batch of questions."""
        return [replace(each, calibrated=self.calibration(each)) for each in self.predict(questions)]


def calibration_from_json(value: Any) -> Calibration | None:
    """Read what :meth:`Calibration.to_json` gave; None stands for no calibration."""
    if value is None:
        return None
    weights = value.get("weights") if isinstance(value, Mapping) else None
    bias = value.get("bias") if isinstance(value, Mapping) else None
    numbers = [bias, *weights.values()] if isinstance(weights, Mapping) else [None]
    if not all(isinstance(number, int | float) and math.isfinite(number) for number in numbers):
        raise DataError("a calibration must have feature weights and a bias, all of them numbers")
    assert isinstance(weights, Mapping)
    assert isinstance(bias, int | float)
    for name in weights:
        if name not in FEATURES:
            raise DataError(f"a calibration has no feature {name!r}; the features are {', '.join(FEATURES)}")
    return Calibration(dict(weights), float(bias))


def fit_calibration(predictions: Sequence[Decomposition], right: Sequence[bool]) -> Calibration:
    """The calibration that makes the verdicts most probable, with a small penalty on weights.

    Only predictions with a decomposition and a score count; there must be enough of them, right and wrong.
    """
    rows = [
        (prediction, verdict)
        for prediction, verdict in zip(predictions, right, strict=True)
        if prediction.text is not None and prediction.score is not None
    ]
    verdicts = np.array([verdict for _, verdict in rows], dtype=np.float64)
    if len(rows) < _FEWEST_ROWS or verdicts.all() or not verdicts.any():
        raise DataError(
            f"a calibration needs {_FEWEST_ROWS} questions or more with plans, some right and some wrong; "
            f"there are {len(rows)}, {int(verdicts.sum())} of them right"
        )
    table = np.array([[feature(prediction) for feature in FEATURES.values()] for prediction, _ in rows])
    centre, spread = table.mean(axis=0), table.std(axis=0)
    spread[spread < 1e-9] = np.inf  # what is the same everywhere says nothing
    weights, bias = _logistic((table - centre) / spread, verdicts)
    weights = weights / spread
    bias -= float(weights @ centre)
    kept = {name: float(weight) for name, weight in zip(FEATURES, weights, strict=True) if weight}
    return Calibration(kept, bias)


def _logistic(
    table: npt.NDArray[np.float64], verdicts: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.float64], float]:
    """Weights and bias of a logistic regression, by Newton's method."""
    columns = np.hstack([table, np.ones((len(table), 1))])
    penalty = np.diag([_RIDGE * len(table)] * table.shape[1] + [0.0])
    found = np.zeros(columns.shape[1])
    for _ in range(_ROUNDS):
        probabilities = 1.0 / (1.0 + np.exp(-np.clip(columns @ found, -30, 30)))
        gradient = columns.T @ (probabilities - verdicts) + penalty @ found
        curvature = (columns * (probabilities * (1 - probabilities) + 1e-9)[:, None]).T @ columns + penalty
        change = np.linalg.solve(curvature + 1e-9 * np.eye(len(found)), gradient)
        found -= change
        if np.abs(change).max() < 1e-8:
            break
    return found[:-1], float(found[-1])


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Plans of about the same confidence: how sure the parser is of them on average, and how many are right."""

    confidence: float
    plans: int
    right: int

    @property
    def share(self) -> float:
        """The share of right plans, which is the mean confidence where the calibration is perfect."""
        return self.right / self.plans


def reliability_bins(confidences: Sequence[float], right: Sequence[bool], bins: int = 10) -> list[ReliabilityBin]:
    """The plans in bins of equal width, from unsure to sure; bins without plans are left out.

    >>> reliability_bins([0.75, 0.75, 0.1], [True, False, False])
    [ReliabilityBin(confidence=0.1, plans=1, right=0), ReliabilityBin(confidence=0.75, plans=2, right=1)]
    """
    if not confidences:
        raise DataError("there are no confidences to compare with the verdicts")
    values, verdicts = np.array(confidences, dtype=np.float64), np.array(right, dtype=bool)
    places = np.minimum((values * bins).astype(int), bins - 1)
    members = [places == place for place in np.unique(places)]
    return [ReliabilityBin(float(values[of].mean()), int(of.sum()), int(verdicts[of].sum())) for of in members]


def expected_calibration_error(confidences: Sequence[float], right: Sequence[bool], bins: int = 10) -> float:
    """The mean distance between the confidence and the share of right plans, over bins of equal width.

    >>> round(expected_calibration_error([0.75, 0.75, 0.75, 0.75], [True, True, True, False]), 3)
    0.0
    """
    found = reliability_bins(confidences, right, bins)
    return sum(abs(each.confidence - each.share) * each.plans for each in found) / len(confidences)


@dataclass(frozen=True, slots=True)
class KeptShare:
    """What a threshold of confidence leaves: the share of plans that are kept, and how many of them are right."""

    threshold: float
    kept: float
    right: float | None


def kept_shares(
    confidences: Sequence[float],
    right: Sequence[bool],
    thresholds: Sequence[float] = (0.0, 0.2, 0.4, 0.5, 0.6, 0.8, 0.9),
) -> list[KeptShare]:
    """A row for each threshold."""
    rows = []
    for threshold in thresholds:
        verdicts = [verdict for confidence, verdict in zip(confidences, right, strict=True) if confidence >= threshold]
        share = len(verdicts) / max(1, len(confidences))
        rows.append(KeptShare(threshold, share, sum(verdicts) / len(verdicts) if verdicts else None))
    return rows
