"""LF-EM, as published and strict, as metrics of the table."""

from __future__ import annotations

from functools import partial

from qdecomp.data_structures.lf_em import lf_em

from .metric import MetricFunction, MetricOptions, MetricResult

__all__ = ["load", "load_strict", "score"]


def score(question: str, prediction: str, gold: str, *, strict: bool = False) -> MetricResult:
    """LF-EM's verdict; the details hold both normalised forms, None for a side that has none.

    >>> score("How many cubes are there?", "return cube ;return the number of #1", "cubes; number of #1").value
    1.0
    """
    result = lf_em(question, prediction, gold, strict=strict)
    forms = {"prediction_normalized": result.prediction_normalized, "gold_normalized": result.gold_normalized}
    return MetricResult(float(result.verdict), result.error, forms)


def load(options: MetricOptions) -> MetricFunction:
    """The published metric; it has no options."""
    return score


def load_strict(options: MetricOptions) -> MetricFunction:
    """The strict variant; it has no options."""
    return partial(score, strict=True)
