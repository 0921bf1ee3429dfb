"""Scores by number of gold steps, with the few long questions in one group."""

from __future__ import annotations

from collections import Counter

from qdecomp.evaluation.breakdown import Group, score_group
from qdecomp.evaluation.scoring import Evaluation

__all__ = ["by_length", "first_of_the_long"]

# A score over fewer questions says little: fewer than these, or than this share of all.
_FEW_QUESTIONS = 25
_SMALL_SHARE = 0.02


def by_length(evaluation: Evaluation, *, seed: int = 0) -> tuple[tuple[Group, ...], ...]:
    """The groups of each system: ``1``, ``2`` and so on, and finally ``9+`` or the like for all that are longer."""
    import numpy as np

    lengths = evaluation.systems[0].columns.steps()
    steps = Counter(lengths.tolist())
    last = first_of_the_long(steps)
    groups = []
    for system in evaluation.systems:
        of_system = []
        for number in sorted({min(each, last) for each in steps}):
            places = np.flatnonzero(np.minimum(lengths, last) == number)
            is_open = number == last and max(steps) > last
            name = f"{number}+" if is_open else str(number)
            of_system.append(score_group(name, system.columns, evaluation.metrics, places=places, seed=seed))
        groups.append(tuple(of_system))
    return tuple(groups)


def first_of_the_long(steps: Counter[int]) -> int:
    """The number of steps from which on all questions form one group: where single numbers become rare.

    >>> first_of_the_long(Counter({1: 5, 2: 900, 3: 700, 4: 80, 5: 12, 6: 9, 9: 1}))
    5
    >>> first_of_the_long(Counter({2: 900, 3: 12, 4: 300}))
    4
    """
    few = max(_FEW_QUESTIONS, _SMALL_SHARE * steps.total())
    longest = max(steps)
    while longest > min(steps) and max(steps[longest], steps[_next_below(steps, longest)]) < few:
        longest = _next_below(steps, longest)
    return longest


def _next_below(steps: Counter[int], number: int) -> int:
    return max(each for each in steps if each < number)
