"""Questions that some systems have right and others wrong, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from qdecomp.evaluation.differences import Analysis
from qdecomp.evaluation.metrics.metric_table import MetricResult
from qdecomp.files import BreakExample

__all__ = ["MOST_SHOWN", "Disagreement", "disagreements"]

MOST_SHOWN = 3000
"""With more questions, the page would open slowly; the CSV file has them all."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A question with every system's analysis, and the names of those that have it right."""

    place: int
    example: BreakExample
    right: tuple[str, ...]
    wrong: tuple[str, ...]
    analyses: tuple[tuple[str, Analysis], ...]

    @property
    def right_key(self) -> str:
        """The indices of the systems that have it right, as one word, since names may contain anything."""
        return ",".join(str(place) for place, (name, _) in enumerate(self.analyses) if name in self.right)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of difference of the systems that have it wrong."""
        return tuple(sorted({str(kind) for _, analysis in self.analyses for kind in analysis.kinds}))

    @property
    def steps(self) -> int:
        """How many steps gold has."""
        return self.analyses[0][1].question.steps


def disagreements(systems: Sequence[tuple[str, Sequence[Analysis]]], metric: str = "lf_em") -> list[Disagreement]:
    """All questions on which the systems' verdicts differ, in the gold file's order."""
    names = [name for name, _ in systems]
    found = []
    for place, same in enumerate(zip(*(analyses for _, analyses in systems), strict=True), start=1):
        verdicts = [_is_right(analysis.question.results[metric]) for analysis in same]
        if len(set(verdicts)) == 1:
            continue
        right = tuple(name for name, verdict in zip(names, verdicts, strict=True) if verdict)
        wrong = tuple(name for name, verdict in zip(names, verdicts, strict=True) if not verdict)
        found.append(Disagreement(place, same[0].question.example, right, wrong, tuple(zip(names, same, strict=True))))
    return found


def _is_right(result: MetricResult) -> bool:
    return bool(result.value)
