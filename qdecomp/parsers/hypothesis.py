"""What a beam search in torch or NumPy finds: sequences of tokens with their scores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf

__all__ = ["Hypothesis", "make_hypotheses"]


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A sequence without its end token, and the logarithm of its probability."""

    tokens: tuple[int, ...]
    score: float
    finished: bool


def make_hypotheses(rows: Iterable[Sequence[int]], scores: Iterable[float], end: int) -> tuple[Hypothesis, ...]:
    """The hypotheses of a question, the best first: ``rows`` are their tokens, up to and beyond the end token.

    Sequences that no rule allows have no probability and are left out. The first is always included, whatever it is.

    >>> make_hypotheses([[7, 8, 0, 0], [7, 9, 6, 5]], [-0.5, -inf], end=0)
    (Hypothesis(tokens=(7, 8), score=-0.5, finished=True),)
    """
    pairs = enumerate(zip(rows, scores, strict=True))
    return tuple(_hypothesis(tokens, score, end) for place, (tokens, score) in pairs if not place or score > -inf)


def _hypothesis(tokens: Sequence[int], score: float, end: int) -> Hypothesis:
    finished = end in tokens
    return Hypothesis(tuple(tokens[: tokens.index(end)] if finished else tokens), score, finished)
