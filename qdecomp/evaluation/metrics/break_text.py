"""A decomposition the way Break's official evaluator reads it, as labels and as a graph; exact match and SARI of texts.

It is more literal than :func:`~qdecomp.data_structures.qdmr.parse_qdmr`: any text is accepted, empty steps count,
and the letters ``return`` are removed wherever they occur, because Break's published scores depend on that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from qdecomp.data_structures.errors import QdmrSyntaxError
from qdecomp.data_structures.qdmr import check_references
from qdecomp.evaluation.metrics import MetricResult

_SEPARATOR = " @@SEP@@ "
_TYPED_REFERENCE = re.compile(r"#(\d+)")
_LONGEST_NGRAM = 4

REFERENCE = re.compile(r"@@(\d{1,9})@@")
"""A reference inside a label. No step number has more than nine digits: a longer one is a word."""


def mention(number: int) -> str:
    """The text inside a label that refers to a step."""
    return f"@@{number}@@"


@dataclass(frozen=True, slots=True)
class BreakText:
    """The steps' labels: without ``return``, with references written ``@@2@@``; an ordinary one begins with a space."""

    labels: tuple[str, ...]

    @property
    def flat(self) -> str:
        """The whole as one line, which the metrics compare.

        >>> parse_break_text("return ewr ;return what  does #1 stand for").flat
        'ewr @@SEP@@ what does @@1@@ stand for'
        """
        return flat_text(self.labels)

    @property
    def references(self) -> tuple[tuple[int, ...], ...]:
        """For each step the numbers that it refers to, in order, with repetitions."""
        return tuple(tuple(int(number) for number in REFERENCE.findall(label)) for label in self.labels)

    @property
    def is_empty(self) -> bool:
        """Whether no step has any text."""
        return not any(label.strip() for label in self.labels)

    @property
    def problem(self) -> QdmrSyntaxError | None:
        """Why this is not a decomposition: it is empty, or its references lead nowhere.

        >>> print(parse_break_text("return cubes ;return color of #2").problem)
        step 2: refers to itself (#2)
        """
        try:
            check_references(self.references)
        except QdmrSyntaxError as error:
            return error
        return QdmrSyntaxError("there is no step") if self.is_empty else None


@lru_cache(maxsize=2)  # several metrics in a row read the same two sides
def parse_break_text(text: str) -> BreakText:
    """Read any text; the order of the replacements is the official one."""
    parts = " ".join(text.split()).split(";")
    return BreakText(tuple(_TYPED_REFERENCE.sub(r"@@\1@@", part.strip().replace("return", "")) for part in parts))


def flat_text(labels: Iterable[str]) -> str:
    """The labels in one line; an empty one leaves only its separators."""
    return _SEPARATOR.join(label.replace("  ", " ").strip() for label in labels)


def exact_match(question: str, prediction: str, gold: str) -> MetricResult:
    """Break's official EM; an empty prediction is wrong.

    >>> exact_match("", "return Large cylinders;return number of  #1", "return large cylinders ;return number of #1")
    MetricResult(value=1.0, error=None, details={})
    """
    predicted = parse_break_text(prediction)
    if predicted.is_empty:
        return MetricResult(0.0, f"prediction: {predicted.problem}")
    return MetricResult(float(predicted.flat.lower() == parse_break_text(gold).flat.lower()))


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
    texts = [text.split(" ") for text in (source, prediction, target)]
    for length in range(1, _LONGEST_NGRAM + 1):
        before, after, wanted = (_ngrams(words, length) for words in texts)
        kept, added, deleted = before & after, after - before, before - after
        total += _f1(len(kept & wanted), len(kept), len(before & wanted))
        total += _f1(len(added & wanted), len(added), len(wanted - before))
        total += _share(len(deleted - wanted), len(deleted))
    return total / (3 * _LONGEST_NGRAM)


def _ngrams(words: list[str], length: int) -> frozenset[tuple[str, ...]]:
    return frozenset(zip(*(words[start:] for start in range(length)), strict=False))


def _share(hits: int, total: int) -> float:
    return hits / total if total else 1.0


def _f1(hits: int, selected: int, relevant: int) -> float:
    precision, recall = _share(hits, selected), _share(hits, relevant)
    return 2 * precision * recall / (precision + recall) if precision and recall else 0.0


class StepGraph(NamedTuple):
    """A node for each step, an edge to each step that it refers to: labels and edges by node number.

    The order of both matters for breaking ties.
    """

    labels: Mapping[int, str]
    edges: Mapping[int, tuple[int, ...]]


def graph_of(text: BreakText) -> StepGraph:
    """The graph of a decomposition. A reference to nothing makes a node without a label.

    The nodes come in the order in which the edges mention them, then those without edges.
    """
    labels = dict(enumerate(text.labels, start=1))
    edges = {step: tuple(dict.fromkeys(targets)) for step, targets in enumerate(text.references, start=1)}
    order = dict.fromkeys([node for step, targets in edges.items() if targets for node in (step, *targets)] + [*labels])
    return StepGraph({node: labels.get(node, "") for node in order}, {node: edges.get(node, ()) for node in order})


def text_of(labels: Mapping[int, str]) -> str | None:
    """The labels as one line in the order of their numbers; None unless the numbers are 1, 2, 3 and so on."""
    numbers = sorted(labels)
    return flat_text([labels[number] for number in numbers]) if numbers == [*range(1, len(labels) + 1)] else None
