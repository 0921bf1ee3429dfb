"""Confidence that means something: of the plans with confidence .8, about eight in ten are right.

A calibration is a logistic function of what is known about a prediction before its gold answer is. It is fitted on
held-out questions, and stored with the parser. At equal scores, plans for one kind of questions may be right more often
than those for another, so held-out questions of two kinds also teach a calibration how to tell them apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from qdecomp.data_structures.errors import DataError, missing_extra
from qdecomp.parsers.decomposition import Decomposition

RECOMMENDED_CONFIDENCE = 0.5
"""Below it, a plan is probably wrong.

Of .1, .2, .3 and so on, it keeps nearest to 60% of the plans for Break's held-out rows and ``asked_dev.csv``.
"""
_RIDGE = 1e-2
_KIND_WEIGHT_VARIANCE = 1e-2
_FEWEST_ROWS = 50
_BINS = 10
_THRESHOLDS = (0.0, 0.2, 0.4, 0.5, 0.6, 0.8, 0.9)


def _score(found: Decomposition) -> float:
    return max(found.score or 0.0, -60.0)


FEATURES: Mapping[str, Callable[[Decomposition], float]] = MappingProxyType(
    {
        "score": _score,
        "probability": lambda found: math.exp(_score(found)),
        "score by word": lambda found: _score(found) / max(1, len((found.text or "").split())),
        "steps": lambda found: float((found.text or "").count("return")),
        "margin": lambda found: min(found.margin or 0.0, 10.0),
        "kind": lambda found: found.kind or 0.0,
    }
)
"""The features of a calibration: the margin is how much more probable the answer is than the next best, in nats; the
kind is the probability that the question is of the first of two kinds."""


def is_probably_wrong(decomposition: Decomposition) -> bool:
    """Whether there is a plan with a confidence below the recommended threshold."""
    confidence = decomposition.confidence if decomposition else None
    return confidence is not None and confidence < RECOMMENDED_CONFIDENCE


@dataclass(frozen=True, slots=True)
class Kind:
    """The first of two kinds of questions, by a logistic function of the mean state of a question's words."""

    weights: tuple[float, ...]
    bias: float

    def __call__(self, words: npt.NDArray[np.float32]) -> float:
        """The probability that a question is of this kind, by the states of its words in the encoder (words, size)."""
        if words.shape[1] != len(self.weights):
            raise DataError("the calibration of this parser is that of another encoder; run qdecomp calibrate again")
        return _logistic(self.bias + float(words.mean(axis=0, dtype=np.float64) @ np.array(self.weights)))


@dataclass(frozen=True, slots=True)
class Calibration:
    """Weights of features, what is added to their sum before the logistic function, and the kind that is a feature."""

    weights: Mapping[str, float]
    bias: float
    kind: Kind | None = None

    def __call__(self, decomposition: Decomposition) -> float | None:
        """The probability that a decomposition is right; None if there is nothing to go by."""
        if decomposition.text is None or decomposition.score is None:
            return None
        total = self.bias + sum(weight * FEATURES[name](decomposition) for name, weight in self.weights.items())
        return _logistic(total)

    def to_json(self) -> dict[str, Any]:
        """For the config of a bundle."""
        kind = {} if self.kind is None else {"kind": {"weights": list(self.kind.weights), "bias": self.kind.bias}}
        return {"weights": dict(self.weights), "bias": self.bias, **kind}


def _logistic(odds: float) -> float:
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, odds))))


def calibration_from_json(value: Any) -> Calibration | None:
    """Read what :meth:`Calibration.to_json` gave; None stands for no calibration."""
    if value is None:
        return None
    given: Any = value if isinstance(value, Mapping) else {}
    weights, bias = given.get("weights"), given.get("bias")
    if not isinstance(weights, Mapping) or not all(map(_is_number, [bias, *weights.values()])):
        raise DataError("a calibration must have feature weights and a bias, all of them numbers")
    for name in weights:
        if name not in FEATURES:
            raise DataError(f"a calibration has no feature {name!r}; the features are {', '.join(FEATURES)}")
    return Calibration(dict(weights), float(bias), _kind_from_json(given.get("kind")))


def _kind_from_json(value: Any) -> Kind | None:
    if value is None:
        return None
    given: Mapping[str, Any] = value if isinstance(value, Mapping) else {}
    weights, bias = given.get("weights"), given.get("bias")
    if not isinstance(weights, list | tuple) or bias is None or not all(map(_is_number, [bias, *weights])):
        raise DataError("a calibration must have a kind with a list of weights and a bias, all of them numbers")
    return Kind(tuple(weights), float(bias))


def _is_number(value: Any) -> bool:
    """Whether it is a number that a float can hold; JSON's have any number of digits."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e100


def fit_calibration(decompositions: Sequence[Decomposition], right: Sequence[bool]) -> Calibration:
    """The calibration that makes the verdicts most probable, with a small penalty on weights.

    Only decompositions with a text and a score count; there must be enough of them, right and wrong.
    """
    pairs = zip(decompositions, right, strict=True)
    rows = [pair for pair in pairs if pair[0].text is not None and pair[0].score is not None]
    verdicts = np.array([verdict for _, verdict in rows], dtype=np.float64)
    if len(rows) < _FEWEST_ROWS or verdicts.all() or not verdicts.any():
        raise DataError(
            f"a calibration needs {_FEWEST_ROWS} questions or more with plans, some right and some wrong; "
            f"there are {len(rows)}, {int(verdicts.sum())} of them right"
        )
    table = np.array([[feature(each) for feature in FEATURES.values()] for each, _ in rows])
    centre, spread = table.mean(axis=0), table.std(axis=0)
    spread[spread < 1e-9] = np.inf  # a constant feature says nothing
    regression = _regression((table - centre) / spread, verdicts, 1 / (_RIDGE * len(rows)))
    weights = regression.coef_[0] / spread
    bias = float(regression.intercept_[0]) - float(weights @ centre)
    kept = {name: float(weight) for name, weight in zip(FEATURES, weights, strict=True) if weight}
    return Calibration(kept, bias)


def fit_kind(first: Sequence[npt.NDArray[np.float32]], others: Sequence[npt.NDArray[np.float32]]) -> Kind:
    """What tells two kinds of questions apart, given the states of the words of each question."""
    if not first or not others:
        raise DataError("to tell two kinds of questions apart takes rows with a decomposition of each")
    if not first[0].size:
        raise DataError(
            "this bundle gives no states of words, which two kinds of questions need; bundle the parser again"
        )
    states = np.array([words.mean(axis=0, dtype=np.float64) for words in (*first, *others)])
    centre, spread = states.mean(axis=0), np.maximum(states.std(axis=0), 1e-9)
    is_first = np.arange(len(states)) < len(first)
    regression = _regression((states - centre) / spread, is_first, _KIND_WEIGHT_VARIANCE)
    # More digits decide nothing, and fill a config.
    weights = (regression.coef_[0] / spread).round(4)
    return Kind(tuple(map(float, weights)), float(regression.intercept_[0] - weights @ centre))


def _regression(table: npt.NDArray[np.float64], labels: npt.NDArray[Any], variance: float) -> Any:
    """A logistic regression on features of about the same size, fitted with this prior variance of its weights."""
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError:
        raise missing_extra("fitting a calibration", "bundle") from None
    return LogisticRegression(C=variance, tol=1e-9, max_iter=1_000).fit(table, labels)


class ReliabilityBin(NamedTuple):
    """Plans of about the same confidence: how sure the parser is of them on average, and how many are right."""

    confidence: float
    plans: int
    right: int

    @property
    def share(self) -> float:
        """The share of right plans, which is the mean confidence where the calibration is perfect."""
        return self.right / self.plans


def reliability_bins(confidences: Sequence[float], right: Sequence[bool]) -> list[ReliabilityBin]:
    """The plans in ten bins of equal width, from unsure to sure; bins without plans are left out.

    >>> reliability_bins([0.75, 0.75, 0.1], [True, False, False])
    [ReliabilityBin(confidence=0.1, plans=1, right=0), ReliabilityBin(confidence=0.75, plans=2, right=1)]
    """
    if not confidences:
        raise DataError("there are no confidences to compare with the verdicts")
    values, verdicts = np.array(confidences, dtype=np.float64), np.array(right, dtype=bool)
    places = np.minimum((values * _BINS).astype(int), _BINS - 1)
    members = [places == place for place in np.unique(places)]
    return [ReliabilityBin(float(values[of].mean()), int(of.sum()), int(verdicts[of].sum())) for of in members]


def expected_calibration_error(confidences: Sequence[float], right: Sequence[bool]) -> float:
    """The mean distance between the confidence and the share of right plans, over :func:`reliability_bins`.

    >>> round(expected_calibration_error([0.75, 0.75, 0.75, 0.75], [True, True, True, False]), 3)
    0.0
    """
    found = reliability_bins(confidences, right)
    return sum(abs(each.confidence - each.share) * each.plans for each in found) / len(confidences)


class KeptShare(NamedTuple):
    """What a threshold of confidence leaves: the share of plans that are kept, and how many of them are right."""

    threshold: float
    kept: float
    right: float | None


def kept_shares(confidences: Sequence[float], right: Sequence[bool]) -> list[KeptShare]:
    """A row for each of some thresholds."""
    rows = []
    for threshold in _THRESHOLDS:
        verdicts = [verdict for confidence, verdict in zip(confidences, right, strict=True) if confidence >= threshold]
        share = len(verdicts) / max(1, len(confidences))
        rows.append(KeptShare(threshold, share, sum(verdicts) / len(verdicts) if verdicts else None))
    return rows
