"""The limits of a service in the description of its API, so that programs generated from it respect them."""

from __future__ import annotations

from typing import Any

from qdecomp.evaluation.metrics.metric_table import METRICS
from qdecomp.service.settings import ServiceSettings

__all__ = ["add_limits"]


def add_limits(description: dict[str, Any], settings: ServiceSettings) -> None:
    """Write the limits into the schemas of requests."""
    bodies = description["components"]["schemas"]
    fields = {
        name: bodies[name]["properties"] for name in ("ParseRequest", "ConvertRequest", "ScoredPair", "ScoreRequest")
    }
    length = {"maxLength": settings.max_question_length}
    number = {"minItems": 1, "maxItems": settings.max_questions}
    for properties in fields.values():
        properties["question"] |= length
    fields["ParseRequest"]["questions"] |= number
    fields["ParseRequest"]["questions"]["items"] |= length
    fields["ScoreRequest"]["pairs"] |= number
    fields["ScoreRequest"]["metrics"] |= {"minItems": 1}
    fields["ScoreRequest"]["metrics"]["items"] |= {"enum": list(METRICS)}
