"""LF-Eq as a metric of the table."""

from __future__ import annotations

from typing import Any

from qdecomp.evaluation.metrics.lf_eq.verdict import lf_eq
from qdecomp.evaluation.metrics.metric_table import MetricFunction, MetricOptions, MetricResult

__all__ = ["load_lf_eq", "score_lf_eq"]


def score_lf_eq(question: str, prediction: str, gold: str) -> MetricResult:
    """Whether both compute the same; ``world`` in the details is a world in which they do not.

    >>> score_lf_eq("How many cubes are there?", "return cubes", "cubes; number of #1").details["world"]["gold"][1][0]
    '2. number of #1'
    """
    result = lf_eq(question, prediction, gold)
    world = result.evidence
    details: dict[str, Any] = {"world": None if world is None else world.to_json(), "worlds": result.worlds}
    if world is not None:
        details["evidence"] = tuple(str(world).splitlines())
    return MetricResult(float(result.verdict), result.error, details)


def load_lf_eq(options: MetricOptions) -> MetricFunction:
    """The metric; it has no options."""
    return score_lf_eq
