"""Whether a claim of the paper that one system is better than others holds, by paired tests."""

from __future__ import annotations

from collections.abc import Sequence

from qdecomp.evaluation.outputs import format_p_value
from qdecomp.evaluation.statistics import Comparison

from .results import NOT_RUN, Claim, Test, Verdict

__all__ = ["LEVEL", "better_than", "oriented"]

LEVEL = 0.05
"""The level at which the adjusted p-values of paired tests are read."""


def better_than(text: str, tests: Sequence[Test], expected: int) -> Claim:
    """A claim that the first system of each test is better; ``expected`` is the number of tests with all cells run.

    It holds if every test confirms it beyond chance, and does not hold if any test shows the opposite beyond chance.
    """
    verdicts = [_verdict(test.comparison) for test in tests]
    if Verdict.DOES_NOT_HOLD in verdicts:
        verdict = Verdict.DOES_NOT_HOLD
    elif len(tests) < expected:
        verdict = Verdict.NOT_RUN
    elif all(each is Verdict.HOLDS for each in verdicts):
        verdict = Verdict.HOLDS
    else:
        verdict = Verdict.WITHIN_CHANCE
    figures = [
        f"{test.where}: {test.comparison.first} – {test.comparison.second} {test.comparison.difference:+.3f}, "
        f"p {format_p_value(test.comparison.p_adjusted)} ({each})"
        for test, each in zip(tests, verdicts, strict=True)
    ]
    if len(tests) < expected:
        figures.append(f"{expected - len(tests)} of {expected} comparisons {NOT_RUN}")
    return Claim(text, verdict, "; ".join(figures))


def _verdict(comparison: Comparison) -> Verdict:
    if comparison.p_adjusted >= LEVEL:
        return Verdict.WITHIN_CHANCE
    return Verdict.HOLDS if comparison.difference > 0 else Verdict.DOES_NOT_HOLD


def oriented(tests: Sequence[Test], first: str, others: Sequence[str]) -> list[Test]:
    """The tests of one system against others, arranged so that it is the first."""
    found = []
    for test in tests:
        comparison = test.comparison
        if comparison.first == first and comparison.second in others:
            found.append(test)
        elif comparison.second == first and comparison.first in others:
            found.append(Test(test.where, _turned(comparison)))
    return found


def _turned(comparison: Comparison) -> Comparison:
    return Comparison(
        metric=comparison.metric,
        first=comparison.second,
        second=comparison.first,
        questions=comparison.questions,
        difference=-comparison.difference,
        first_better=comparison.second_better,
        second_better=comparison.first_better,
        test=comparison.test,
        p_value=comparison.p_value,
        p_adjusted=comparison.p_adjusted,
    )
