"""What the conversion of an annotated question gives, as plain data that can be written and kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from qdecomp.data_structures.conversion.chain import CONVERSION_VERSION, Conversion, check_round_trip, convert
from qdecomp.data_structures.dependency_graph import dependency_graph_to_json
from qdecomp.data_structures.errors import InternalError, QDecompError, as_internal_errors
from qdecomp.data_structures.logical_form import format_step
from qdecomp.data_structures.special_tokens import SpecialTokens

__all__ = ["AnnotatedPair", "conversion_key", "failed_conversion", "make_conversion_record", "make_conversion_records"]

AnnotatedPair = tuple[str, str]
"""A question and its decomposition."""


def conversion_key(
    question: str, decomposition: str | None, special: SpecialTokens, version: str = CONVERSION_VERSION
) -> str:
    """What a conversion depends on, as one short text: if any of it changes, so does the key."""
    content = json.dumps([version, question, decomposition, special.appended])
    return hashlib.sha256(content.encode()).hexdigest()


def make_conversion_record(question: str, decomposition: str, special: SpecialTokens) -> dict[str, Any]:
    """Convert a decomposition, and check that its graph converts back to the logical form.

    The record has the ``logical_form`` and the ``graph``, both None if there is none; ``round_trip``, the verdict of
    the check; ``missing``, the words of the decomposition that the question does not have; and what went wrong, as a
    ``reason`` for counting and an ``error`` for people.
    """
    try:
        with as_internal_errors():
            conversion = convert(question, decomposition, special=special)
            reason, error = _loss(conversion)
    except QDecompError as failure:
        return failed_conversion(failure)
    return {
        "logical_form": [format_step(step) for step in conversion.form.steps],
        "graph": dependency_graph_to_json(conversion.graph),
        "round_trip": reason is None,
        "missing": [word for _, word in conversion.alignment.missing],
        "reason": reason,
        "error": error,
    }


def make_conversion_records(pairs: Iterable[AnnotatedPair], special: SpecialTokens) -> list[dict[str, Any]]:
    """The records of several pairs."""
    return [make_conversion_record(*pair, special) for pair in pairs]


def failed_conversion(failure: QDecompError) -> dict[str, Any]:
    """The record of a decomposition that has no graph."""
    nothing: dict[str, Any] = {"logical_form": None, "graph": None, "round_trip": False, "missing": []}
    record = {**nothing, "reason": failure.kind, "error": str(failure)}
    # Only such a record has the field: a run that goes on counts it, and no cache keeps it.
    return record | {"internal_error": True} if isinstance(failure, InternalError) else record


def _loss(conversion: Conversion) -> tuple[str | None, str | None]:
    """Why the graph does not convert back to the logical form: a class of reasons and the reason; None if it does."""
    result = check_round_trip(conversion)
    if result.verdict:
        return None, None
    if result.error is not None and "gold" in result.error.sides:
        return "no published logical form", result.error
    if conversion.alignment.missing:
        words = ", ".join(word for _, word in conversion.alignment.missing)
        return "words that the question does not have", f"the question does not have: {words}"
    return "words that go elsewhere", f"{result.gold_normalized} became {result.prediction_normalized}"
