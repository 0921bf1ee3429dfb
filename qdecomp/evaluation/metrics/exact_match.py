"""Exact match: the same text except for spaces, letter case and the word ``return``."""

from __future__ import annotations

from qdecomp.evaluation.metrics.break_text import parse_break_text
from qdecomp.evaluation.metrics.metric_table import MetricFunction, MetricOptions, MetricResult

__all__ = ["exact_match", "load_exact_match"]


def exact_match(question: str, prediction: str, gold: str) -> MetricResult:
    """Break's official EM; an empty prediction is wrong.

    >>> exact_match("", "return Large cylinders;return number of  #1", "return large cylinders ;return number of #1")
    MetricResult(value=1.0, error=None, details=mappingproxy({}))
    """
    predicted = parse_break_text(prediction)
    if predicted.is_empty:
        return MetricResult(0.0, f"prediction: {predicted.problem}")
    return MetricResult(float(predicted.flat.lower() == parse_break_text(gold).flat.lower()))


def load_exact_match(options: MetricOptions) -> MetricFunction:
    """The metric's function; it has no options."""
    return exact_match
