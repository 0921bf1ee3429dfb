"""Beam search in NumPy over many questions at once, for networks that write a token at a time.

It finds what :mod:`qdecomp.modules.torch_beam_search` finds. Few products with many rows are fast and many with few
rows are not, so all hypotheses of all questions take a step together, and questions that are done leave the batch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import numpy as np

from qdecomp.decoding.hypothesis import Hypothesis, make_hypotheses
from qdecomp.decoding.plan_rules import PlanRules, TokenIds

from .layers import Array

__all__ = ["Cost", "Found", "SearchState", "beam_search"]

Cost = Callable[[int, Hypothesis], float]
"""What is taken off the score of a question's hypothesis that has ended, from 0 up."""

# To make the batch smaller costs a copy of the memory, which one question of many is not worth.
_SHARE_THAT_LEAVES = 8


@dataclass(frozen=True, slots=True)
class Found:
    """The best hypotheses of a question, the best first, and the score of the one that was next at that moment."""

    hypotheses: tuple[Hypothesis, ...]
    next_score: float


class SearchState(Protocol):
    """What a network remembers of the hypotheses (questions, width) that it has written so far."""

    def advance(self: _State, tokens: TokenIds) -> tuple[Array, _State]:
        """Read the last token of each hypothesis; the probabilities of the next (questions * width, tokens).

        They need not sum to one: those of what cannot follow are left out. The caller may change them.
        """

    def reorder(self: _State, parents: TokenIds) -> _State:
        """The state in which hypothesis ``j`` of question ``i`` continues hypothesis ``parents[i, j]``."""

    def select(self: _State, questions: TokenIds) -> _State:
        """The state of these questions only."""


_State = TypeVar("_State", bound=SearchState)


@dataclass(slots=True)
class _Beam:
    """The hypotheses of the questions that are still searched; the best of each is the first."""

    questions: TokenIds  # (active)
    scores: Array  # (active, width)
    tokens: TokenIds  # (active, width, steps), with the start token

    def select(self, rows: TokenIds) -> _Beam:
        return _Beam(self.questions[rows], self.scores[rows], self.tokens[rows])

    def found(self, row: int, wanted: int, end: int, cost: Cost | None, *, last: bool = False) -> Found:
        """The best hypotheses at their cost; when this is the ``last`` time, those that never ended come last."""
        hypotheses = make_hypotheses(self.tokens[row, :, 1:].tolist(), self.scores[row].tolist(), end)
        if cost is not None:
            question = int(self.questions[row])
            charged = (
                replace(each, score=each.score - cost(question, each)) if each.finished else each for each in hypotheses
            )
            hypotheses = tuple(sorted(charged, key=lambda each: (last and not each.finished, -each.score)))
        return Found(hypotheses[:wanted], hypotheses[wanted].score if len(hypotheses) > wanted else -np.inf)


def beam_search(
    state: _State,
    *,
    questions: int,
    start: int,
    end: int,
    rules: PlanRules,
    beam_size: int,
    max_steps: int,
    wanted: int = 1,
    cost: Cost | None = None,
) -> list[Found]:
    """The ``wanted`` best sequences for each question, of those that keep to the rules.

    Nothing that is added to a hypothesis makes it more probable, so a question is done as soon as so many of its best
    hypotheses have ended. With a ``cost``, those that have ended are compared at their cost, and the others as if they
    will cost nothing.
    """
    wanted = min(wanted, beam_size)
    beam = _Beam(
        np.arange(questions),
        np.zeros((questions, 1), dtype=np.float32),
        np.full((questions, 1, 1), start, dtype=np.int64),
    )
    results: dict[int, Found] = {}
    for _ in range(max_steps):
        if not len(beam.questions):
            break
        probabilities, state = state.advance(beam.tokens[:, :, -1])
        if rules:
            _apply(rules, beam.tokens, probabilities)
        beam, parents = _extend(beam, probabilities, end, beam_size)
        state = state.reorder(parents)
        for row in np.flatnonzero(beam.tokens[:, 0, -1] == end).tolist():
            # What comes later for a question that waits to leave changes nothing, so that no batch changes its answer.
            if (question := int(beam.questions[row])) in results:
                continue
            found = beam.found(row, wanted, end, cost)
            if all(each.finished for each in found.hypotheses):
                results[question] = found
        left = np.array([row for row, question in enumerate(beam.questions.tolist()) if question not in results], int)
        if _SHARE_THAT_LEAVES * (len(beam.questions) - len(left)) >= len(beam.questions):
            beam, state = beam.select(left), state.select(left)
    for row, question in enumerate(beam.questions.tolist()):
        if question not in results:
            results[question] = beam.found(row, wanted, end, cost, last=True)
    return [results[question] for question in range(questions)]


def _apply(rules: PlanRules, tokens: TokenIds, probabilities: Array) -> None:
    forbidden = rules.forbidden(tokens.reshape(len(probabilities), -1))
    rows, columns = np.nonzero(forbidden)
    probabilities[rows, rules.tokens[columns]] = 0.0


def _extend(beam: _Beam, probabilities: Array, end: int, beam_size: int) -> tuple[_Beam, TokenIds]:
    """The best continuations, and which hypothesis each continues."""
    questions = len(beam.scores)
    tokens, scores = _best_of_each(probabilities, beam_size)
    ended = np.flatnonzero(beam.tokens[:, :, -1].reshape(-1) == end)
    if len(ended):
        # A hypothesis that has ended stays as it is: its one continuation is another end token, at no cost.
        tokens[ended], scores[ended, 0], scores[ended, 1:] = end, 0.0, -np.inf
    scores += beam.scores.reshape(-1, 1)
    total = scores.reshape(questions, -1)
    # Stable, so that of equals the one of the better hypothesis comes first, as in a search by whole rows.
    order = np.argsort(-total, axis=1, kind="stable")[:, :beam_size]
    chosen = order + np.arange(questions)[:, None] * total.shape[1]
    parents = order // tokens.shape[1]
    history = beam.tokens[np.arange(questions)[:, None], parents]
    extended = np.concatenate([history, tokens.reshape(-1)[chosen][:, :, None]], axis=2)
    return _Beam(beam.questions, scores.reshape(-1)[chosen], extended), parents


def _best_of_each(probabilities: Array, count: int) -> tuple[TokenIds, Array]:
    """The most probable tokens of each row and the logarithms of their probabilities, both (rows, count).

    Some passes for the greatest are faster than one that sorts, as long as they are few.
    """
    count = min(count, probabilities.shape[1])
    rows = np.arange(len(probabilities))
    tokens = np.empty((len(probabilities), count), dtype=np.int64)
    found = np.empty((len(probabilities), count), dtype=np.float32)
    for place in range(count):
        tokens[:, place] = best = probabilities.argmax(axis=1)
        found[:, place] = probabilities[rows, best]
        probabilities[rows, best] = -1.0
    with np.errstate(divide="ignore"):
        return tokens, np.log(np.maximum(found, 0.0))
