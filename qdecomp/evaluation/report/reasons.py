"""Errors by kind of reason, each with its most common wording."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

from qdecomp.data_structures.errors import ErrorText, patterns_of
from qdecomp.evaluation.scoring import Evaluation

__all__ = ["Reason", "error_reasons"]

_MOST_REASONS = 12


@dataclass(frozen=True, slots=True)
class Reason:
    """A kind of reason: its commonest wording, the number of other wordings, and its questions by system."""

    example: str
    others: int
    counts: tuple[int, ...]


def error_reasons(evaluation: Evaluation, metric: str = "lf_em") -> tuple[Reason, ...]:
    """The commonest kinds of reasons why a metric failed; wordings that differ only in numbers are one kind."""
    wordings: dict[str, Counter[str]] = defaultdict(Counter)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for system in evaluation.systems:
        for question in system.questions:
            error = question.results[metric].error
            if error is None:
                continue
            wording_of_each = error.messages if isinstance(error, ErrorText) else (error,)
            for kind, wording in zip(patterns_of(error), wording_of_each, strict=True):
                wordings[kind][wording] += 1
                counts[kind][system.name] += 1
    names = [system.name for system in evaluation.systems]
    commonest = sorted(counts, key=lambda kind: (-counts[kind].total(), kind))[:_MOST_REASONS]
    return tuple(
        Reason(
            example=wordings[kind].most_common(1)[0][0],
            others=len(wordings[kind]) - 1,
            counts=tuple(counts[kind][name] for name in names),
        )
        for kind in commonest
    )
