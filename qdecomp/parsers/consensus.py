"""The consensus of several parsers: what most of them, or the surest of them, say, however it is worded.

Candidates are grouped into classes with the same normalised logical form, which LF-EM calls equal. The weight of a
class is the weighted sum of its members' probabilities, and the best member of the best class is the answer.
Probabilities of different parsers can be compared if they are calibrated, so the confidence is used if there is one.

As a parser, a consensus is a JSON file that names others, by paths relative to it, with their weights::

    {"kind": "consensus", "parsers": [{"parser": "minilm_break", "weight": 1}, {"parser": "copynet/model.tar.gz"}]}

A parser may also have a ``decoder`` and a number of ``candidates`` to ask for, and the consensus a ``calibration``, see
:mod:`qdecomp.parsers.calibration`.

A :class:`Cascade` asks a second parser, usually a language model, only what the first one is not sure of.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import numpy.typing as npt

from qdecomp.data_structures.errors import DataError, QDecompError
from qdecomp.data_structures.lf_em import normalized_text
from qdecomp.parsers.decomposition import (
    Answered,
    Candidate,
    Decomposition,
    decomposition_from_text,
    failed_decomposition,
)

# The weights to try, relative to the others. None of them is 0: the worst system may be the only one with an answer.
_TRIED_WEIGHTS = tuple(2.0**power for power in (-10, *range(-5, 6)))
_ROUNDS = 6

Answers = Callable[[Sequence[str]], Sequence[Decomposition]]
"""Gives a batch of questions their decompositions."""


@dataclass(frozen=True, slots=True)
class AnswerClass:
    """Decompositions that mean the same, as (system, text, probability), and the form that LF-EM compares."""

    key: str
    has_form: bool
    members: tuple[tuple[int, str, float], ...]

    def support(self, weights: Sequence[float]) -> float:
        """The weighted sum of the members' probabilities."""
        return sum(weights[system] * probability for system, _, probability in self.members)

    def best_member(self, weights: Sequence[float]) -> tuple[int, str, float]:
        """The member with the most weight; of equals, the first system's."""
        return max(self.members, key=lambda member: weights[member[0]] * member[2])


def check_weights(weights: Sequence[float], systems: int) -> None:
    """Raise unless there is a weight for each system, 0 or more, and not all are 0."""
    if len(weights) != systems:
        raise DataError(f"there are {systems} systems and {len(weights)} weights; give one for each")
    if any(not math.isfinite(weight) or weight < 0 for weight in weights) or not any(weights):
        raise DataError(f"weights must be 0 or more and not all 0, not {', '.join(map(str, weights))}")


def answer_classes(question: str, predictions: Sequence[Decomposition]) -> list[AnswerClass]:
    """The classes of all candidates of all systems; a system without candidates has its one decomposition.

    What a system says about another question does not count.
    """
    members: dict[tuple[bool, str], list[tuple[int, str, float]]] = {}
    for system, prediction in enumerate(predictions):
        if _is_about_another(question, prediction):
            continue
        for text, probability in _candidates(prediction):
            try:
                key = (True, normalized_text(question, text))
            except QDecompError:
                # What has no logical form is equal only to itself.
                key = (False, text)
            members.setdefault(key, []).append((system, text, probability))
    return [AnswerClass(key, has_form, tuple(found)) for (has_form, key), found in members.items()]


def _is_about_another(question: str, prediction: Decomposition) -> bool:
    """Whether a system was asked another question; how it is spaced and capitalised does not matter."""
    asked, told = ("".join(text.split()).lower() for text in (question, prediction.question))
    return bool(asked and told) and asked != told


def _candidates(prediction: Decomposition) -> list[tuple[str, float]]:
    """Texts with their probabilities, scaled so that the first one's is its confidence, if it has that.

    Without a score, a system is sure; a score that is not a number supports nothing.
    """
    own = [] if prediction.text is None else [(prediction.text, prediction.score)]
    scored = [(each.text, each.score) for each in prediction.candidates] or own
    given = [
        (text, 1.0 if score is None else 0.0 if math.isnan(score) else math.exp(min(score, 0.0)))
        for text, score in scored
    ]
    if not given or prediction.confidence is None:
        return given
    first = given[0][1]
    return [(text, prediction.confidence * (probability / first if first else 1.0)) for text, probability in given]


def consensus(question: str, predictions: Sequence[Decomposition], weights: Sequence[float]) -> Decomposition:
    """The answer of several systems to one question, with the shares of all classes as candidates.

    >>> texts = {"return rivers ;return number of #1": 0.4, "return the rivers": 0.3, "return river": 0.3}
    >>> systems = [decomposition_from_text("", text, math.log(share)) for text, share in texts.items()]
    >>> consensus("How many rivers are there?", systems, [1, 1, 1]).text
    'return the rivers'
    """
    check_weights(weights, len(predictions))
    supported = [(each.support(weights), each) for each in answer_classes(question, predictions)]
    # Classes without a logical form are the last resort; otherwise classes are in the order of the systems.
    ranked = sorted((pair for pair in supported if pair[0] > 0), key=lambda pair: (not pair[1].has_form, -pair[0]))
    if not ranked:
        reasons = dict.fromkeys(
            "answered another question" if _is_about_another(question, each) else each.error or "no decomposition"
            for each in predictions
        )
        return failed_decomposition(question, "; ".join(reasons))
    total = sum(weights)
    candidates = [
        Candidate(each.best_member(weights)[1], math.log(min(1.0, support / total))) for support, each in ranked
    ]
    system, text, _ = ranked[0][1].best_member(weights)
    own = predictions[system]
    answer = own if own.text == text else decomposition_from_text(question, text)
    margin = candidates[0].score - candidates[1].score if len(candidates) > 1 else None
    return replace(answer, score=candidates[0].score, candidates=tuple(candidates), margin=margin, confidence=None)


def learn_weights(rows: Iterable[tuple[str, str, Sequence[Decomposition]]]) -> tuple[float, ...]:
    """The weights with which most answers are right, for rows of a question, its gold and the systems' predictions.

    No system may have been trained on the rows. Weights are tried one after another; of equally good ones, those that
    give the right class the larger share are kept.
    """
    tables = [_table(question, gold, predictions) for question, gold, predictions in rows]
    if not tables:
        raise DataError("learning weights needs questions that have gold decompositions and that all systems answered")
    systems = tables[0][0].shape[1]
    weights = np.ones(systems)
    best = _quality(tables, weights)
    for _ in range(_ROUNDS):
        before = best
        for system, tried in product(range(systems), _TRIED_WEIGHTS):
            changed = weights.copy()
            changed[system] = tried
            quality = _quality(tables, changed)
            if quality > best:
                best, weights = quality, changed
        if best == before:
            break
    return tuple(float(weight) for weight in weights / weights.max())


_Table = tuple[npt.NDArray[np.float64], int]
"""The probabilities (classes, systems) of the classes of a question, and the row of the right one, or -1."""


def _table(question: str, gold: str, predictions: Sequence[Decomposition]) -> _Table:
    classes = [each for each in answer_classes(question, predictions) if each.has_form]
    probabilities = np.zeros((len(classes), len(predictions)))
    for row, each in enumerate(classes):
        for system, _, probability in each.members:
            probabilities[row, system] += probability
    try:
        right = normalized_text(question, gold)
    except QDecompError:
        return probabilities, -1
    return probabilities, next((row for row, each in enumerate(classes) if each.key == right), -1)


def _quality(tables: Sequence[_Table], weights: npt.NDArray[np.float64]) -> tuple[int, float]:
    """How many answers are right, and the mean share of the right classes."""
    supports = [(probabilities @ weights, row) for probabilities, row in tables if row >= 0]
    shares = sum(float(support[row] / max(support.sum(), 1e-12)) for support, row in supports)
    return sum(int(support.argmax()) == row for support, row in supports), round(shares / len(tables), 9)


@dataclass(frozen=True, slots=True)
class Cascade:
    """The names of two parsers, and what each says; ``below`` is the confidence from which the first one is sure.

    With ``together``, both answer every question, and their consensus is the answer. A plan of a language model has no
    probability; it weighs as much as one of the confidence ``below``, so another plan wins where the first parser is
    sure of it.
    """

    names: tuple[str, str]
    first: Answers
    second: Answers
    below: float
    together: bool = False

    def __call__(self, questions: Sequence[str]) -> list[Decomposition]:
        """The plans of a batch; each says who answered."""
        found = [replace(each, answered=_answered(self.names[0], each)) for each in self.first(questions)]
        asked = [number for number, each in enumerate(found) if self.together or not self._is_sure(each)]
        others = self.second([questions[number] for number in asked]) if asked else ()
        for number, other in zip(asked, others, strict=True):
            found[number] = self._joined(questions[number], found[number], other)
        return found

    def _is_sure(self, found: Decomposition) -> bool:
        return bool(found) and (found.confidence is None or found.confidence >= self.below)

    def _joined(self, question: str, first: Decomposition, second: Decomposition) -> Decomposition:
        if self.together and first and second:
            sure = [
                each if each.confidence is not None else replace(each, confidence=self.below)
                for each in (first, second)
            ]
            return replace(
                consensus(question, sure, [1.0, 1.0]), answered=_answered(" + ".join(self.names), first, second)
            )
        which = 0 if first and not second else 1
        given, other = (first, second) if which == 0 else (second, first)
        if not given:
            given = replace(given, error="; ".join(dict.fromkeys(str(each.error) for each in (first, second))))
        note = None if other else other.error
        return replace(given, answered=replace(_answered(self.names[which], first, second), note=note))


def _answered(by: str, *found: Decomposition) -> Answered:
    """Who answered, with the calls of both."""
    spent = [each.answered for each in found if each.answered is not None]
    return Answered(
        by,
        sum(each.calls for each in spent),
        sum(each.prompt_tokens for each in spent),
        sum(each.completion_tokens for each in spent),
    )
