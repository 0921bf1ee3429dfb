"""LF-EM, as published and strict, as metrics of the table."""

from __future__ import annotations

from functools import partial

from qdecomp.data_structures.lf_em import lf_em
from qdecomp.evaluation.metrics.metric_table import MetricFunction, MetricOptions, MetricResult

__all__ = ["load_lf_em", "load_strict_lf_em", "score_lf_em"]


def score_lf_em(question: str, prediction: str, gold: str, *, strict: bool = False) -> MetricResult:
    """LF-EM's verdict; the details hold both normalised forms, or None for a side that has none.

    >>> score_lf_em("How many cubes are there?", "return cube ;return the number of #1", "cubes; number of #1").value
    1.0
    """
    result = lf_em(question, prediction, gold, strict=strict)
    forms = {"prediction_normalized": result.prediction_normalized, "gold_normalized": result.gold_normalized}
    return MetricResult(float(result.verdict), result.error, forms)


def load_lf_em(options: MetricOptions) -> MetricFunction:
    """The published metric; it has no options."""
    return score_lf_em


def load_strict_lf_em(options: MetricOptions) -> MetricFunction:
    """The strict variant; it has no options."""
    return partial(score_lf_em, strict=True)
