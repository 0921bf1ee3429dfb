"""SARI: how well a prediction keeps, adds and deletes what the gold decomposition does to the question's words."""

from __future__ import annotations

from typing import TypeAlias

from qdecomp.evaluation.metrics import MetricResult
from qdecomp.evaluation.metrics.break_text import parse_break_text

_Ngrams: TypeAlias = frozenset[tuple[str, ...]]

_LONGEST_NGRAM = 4


def sari(question: str, prediction: str, gold: str) -> MetricResult:
    """Break's official SARI, from 0 to 1. An empty prediction has 0, not a reward for deleting the question."""
    predicted = parse_break_text(prediction)
    if predicted.is_empty:
        return MetricResult(0.0, f"prediction: {predicted.problem}")
    return MetricResult(sari_score(question, predicted.flat, parse_break_text(gold).flat))


def sari_score(source: str, prediction: str, target: str) -> float:
    """SARI of three lines of words. Every single space separates, so a double one makes an empty word.

    >>> round(sari_score("how big is texas ", "texas @@SEP@@ size of @@1@@", "size of texas"), 6)
    0.75
    """
    total = 0.0
    for length in range(1, _LONGEST_NGRAM + 1):
        before, after, wanted = (_ngrams(text.split(" "), length) for text in (source, prediction, target))
        kept, added, deleted = before & after, after - before, before - after
        total += _f1(len(kept & wanted), len(kept), len(before & wanted))
        total += _f1(len(added & wanted), len(added), len(wanted - before))
        total += _share(len(deleted - wanted), len(deleted))
    return total / (3 * _LONGEST_NGRAM)


def _ngrams(words: list[str], length: int) -> _Ngrams:
    return frozenset(zip(*(words[start:] for start in range(length)), strict=False))


def _share(hits: int, total: int) -> float:
    return hits / total if total else 1.0


def _f1(hits: int, selected: int, relevant: int) -> float:
    precision, recall = _share(hits, selected), _share(hits, relevant)
    return 2 * precision * recall / (precision + recall) if precision and recall else 0.0
