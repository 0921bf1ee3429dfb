"""Two parsers, one in front of the other: the first answers what it is sure of, the second one the rest.

Usually the first one is the bundled parser, which is quick and free, and the second one a language model. With
``together``, both answer every question, and the consensus of the two is the answer (see
:mod:`qdecomp.parsers.consensus`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from qdecomp.parsers.consensus import consensus
from qdecomp.parsers.decomposition import Answered, Decomposition

# How often a plan of a strong language model can be used; it has no probability of its own.
_CONFIDENCE_OF_A_MODEL = 0.7

_Answers = Callable[[Sequence[str]], Sequence[Decomposition]]


@dataclass(frozen=True, slots=True)
class Cascade:
    """The names of two parsers, and what each says; ``below`` is the confidence from which the first one is sure."""

    names: tuple[str, str]
    first: _Answers
    second: _Answers
    below: float
    together: bool = False

    def __call__(self, questions: Sequence[str]) -> list[Decomposition]:
        """The plans of a batch; each says who answered."""
        found = [replace(each, answered=self._answered(0, each)) for each in self.first(questions)]
        asked = [number for number, each in enumerate(found) if self.together or not self._is_sure(each)]
        if asked:
            others = self.second([questions[number] for number in asked])
            for number, other in zip(asked, others, strict=True):
                found[number] = self._joined(questions[number], found[number], other)
        return found

    def _is_sure(self, found: Decomposition) -> bool:
        return bool(found) and (found.confidence is None or found.confidence >= self.below)

    def _answered(self, which: int, found: Decomposition, other: Decomposition | None = None) -> Answered:
        """Who answered, with the calls of both."""
        spent = [each.answered for each in (found, other) if each is not None and each.answered is not None]
        return Answered(
            self.names[which],
            sum(each.calls for each in spent),
            sum(each.prompt_tokens for each in spent),
            sum(each.completion_tokens for each in spent),
            None if other is None or other else other.error,
        )

    def _joined(self, question: str, first: Decomposition, second: Decomposition) -> Decomposition:
        if self.together and first and second:
            sure = second if second.confidence is not None else replace(second, confidence=_CONFIDENCE_OF_A_MODEL)
            both = consensus(question, [first, sure], [1.0, 1.0])
            return replace(both, answered=replace(self._answered(1, second, first), by=" + ".join(self.names)))
        if second:
            return replace(second, answered=self._answered(1, second, first))
        if first:
            return replace(first, answered=self._answered(0, first, second))
        reason = "; ".join(dict.fromkeys(str(each.error) for each in (first, second)))
        return replace(second, error=reason, answered=self._answered(1, second, first))
