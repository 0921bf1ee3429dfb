"""Which systems are right on the same questions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations

from qdecomp.evaluation.scoring import Evaluation

__all__ = ["Agreement", "agreement"]

# With more systems there are too many subsets to list those that never occur.
_MOST_SYSTEMS_WITH_ALL_SUBSETS = 6


@dataclass(frozen=True, slots=True)
class Agreement:
    """The questions that exactly these systems have right; an empty set stands for those that all have wrong."""

    systems: tuple[str, ...]
    questions: int


def agreement(evaluation: Evaluation, metric: str = "lf_em") -> tuple[Agreement, ...]:
    """A count for every subset of the systems, the largest first; the counts add up to all questions.

    With more than six systems, subsets that never occur are left out.
    """
    names = [system.name for system in evaluation.systems]
    rows = zip(*(system.questions for system in evaluation.systems), strict=True)
    counts = Counter(
        tuple(name for name, question in zip(names, row, strict=True) if question.results[metric].value) for row in rows
    )
    if len(names) <= _MOST_SYSTEMS_WITH_ALL_SUBSETS:
        for size in range(len(names) + 1):
            counts.update(dict.fromkeys(combinations(names, size), 0))
    return tuple(Agreement(subset, count) for subset, count in sorted(counts.items(), key=lambda item: -item[1]))
