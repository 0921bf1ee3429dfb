"""The consensus of several parsers: what most of them, or the surest of them, say, however it is worded.

Candidates are grouped into classes with the same normalised logical form, which LF-EM calls equal. The weight of a
class is the weighted sum of its members' probabilities, and the best member of the best class is the answer.
Probabilities of different parsers can be compared if they are calibrated, so the confidence is used if there is one.

As a parser, a consensus is a JSON file that names others, by paths relative to it, with their weights::

    {"kind": "consensus", "parsers": [{"parser": "minilm_break", "weight": 1}, {"parser": "copynet/model.tar.gz"}]}

A parser may also have a ``decoder`` and a number of ``candidates`` to ask for, and the consensus a ``calibration``, see
:mod:`qdecomp.parsers.calibration`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from qdecomp.data_structures.errors import DataError, QDecompError
from qdecomp.data_structures.lf_em import normalized_text
from qdecomp.parsers.bundle import read_json
from qdecomp.parsers.calibration import Calibration, calibration_from_json
from qdecomp.parsers.decomposition import Candidate, Decomposition, decomposition_from_text, failed_decomposition

# The weights to try, relative to the others. None of them is 0: the worst system may be the only one with an answer.
_TRIED_WEIGHTS = tuple(2.0**power for power in (-10, *range(-5, 6)))
_ROUNDS = 6
_KIND = "consensus"
_CANDIDATES = 5
_MOST_CANDIDATES, _MOST_MEMBERS = 100, 20
_SETTINGS = frozenset({"parser", "weight", "decoder", "candidates"})


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
    """Texts with their probabilities, scaled so that the first one's is its confidence, if it has that."""
    given = [(each.text, _probability(each.score)) for each in prediction.candidates]
    if not given and prediction.text is not None:
        given = [(prediction.text, _probability(prediction.score))]
    if not given or prediction.confidence is None:
        return given
    first = given[0][1]
    return [(text, prediction.confidence * (probability / first if first else 1.0)) for text, probability in given]


def _probability(score: float | None) -> float:
    """Without a score, a system is sure; a score that is not a number supports nothing."""
    if score is None:
        return 1.0
    return 0.0 if math.isnan(score) else math.exp(min(score, 0.0))


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
        for system in range(systems):
            for tried in _TRIED_WEIGHTS:
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
    right, shares = 0, 0.0
    for probabilities, row in tables:
        if row < 0:
            continue
        support = probabilities @ weights
        right += int(support.argmax()) == row
        shares += float(support[row] / max(support.sum(), 1e-12))
    return right, round(shares / len(tables), 9)


class Member(NamedTuple):
    """A parser of a consensus: where it is, its weight, and how it is opened."""

    parser: str
    weight: float
    decoder: str | None
    candidates: int


class ConsensusFile(NamedTuple):
    """What the file of a consensus says."""

    members: tuple[Member, ...]
    calibration: Calibration | None


def read_consensus(path: Path) -> ConsensusFile:
    """The parsers that a file names; any other file is a :class:`DataError`."""
    value = read_json(path, "a consensus")
    entries = value.get("parsers") if isinstance(value, dict) and value.get("kind") == _KIND else None
    if not isinstance(entries, list) or not entries:
        raise DataError(f'{path}: not a consensus, which is {{"kind": "consensus", "parsers": [{{"parser": …}}, …]}}')
    if len(entries) > _MOST_MEMBERS:
        raise DataError(f"{path}: a consensus of {len(entries):,} parsers; at most {_MOST_MEMBERS} are allowed")
    members = tuple(_member(entry, f"{path}: parser {number}") for number, entry in enumerate(entries, start=1))
    check_weights([each.weight for each in members], len(members))
    return ConsensusFile(members, calibration_from_json(value.get("calibration")))


def _member(entry: Any, where: str) -> Member:
    if not isinstance(entry, dict) or not isinstance(entry.get("parser"), str):
        raise DataError(f"{where} must be an object whose field parser is the name or path of a parser")
    if unknown := sorted(entry.keys() - _SETTINGS):
        raise DataError(f"{where} has an unknown field {unknown[0]!r}; the fields are {', '.join(sorted(_SETTINGS))}")
    weight, asked, decoder = entry.get("weight", 1.0), entry.get("candidates", _CANDIDATES), entry.get("decoder")
    if isinstance(weight, bool) or not isinstance(weight, int | float) or abs(weight) > 1e100:
        raise DataError(f"{where}: the weight is {str(weight)[:20]}, not a number")
    if not isinstance(asked, int) or not 1 <= asked <= _MOST_CANDIDATES or not isinstance(decoder, str | None):
        allowed = f"a whole number from 1 to {_MOST_CANDIDATES}"
        raise DataError(f"{where}: candidates must be {allowed}, and decoder the name of a decoder")
    return Member(entry["parser"], float(weight), decoder, asked)
