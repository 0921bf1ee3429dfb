"""Beam search in NumPy over many questions at once, for networks that write one token at a time.

It finds what :mod:`qdecomp.modules.torch_beam_search` finds. All hypotheses of all questions take a step together, but
only those that may still matter: not those that have ended, nor those that are far behind the best of their question.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from qdecomp.decoding.hypothesis import Hypothesis, make_hypotheses
from qdecomp.decoding.plan_rules import PlanProgress, PlanRules, TokenIds

from .layers import Array

__all__ = ["BeamSearch", "Cost", "Found", "SearchState"]

Cost = Callable[[int, Hypothesis], float]
"""What is taken off the score of a question's ended hypothesis; 0 or more."""


# Shrinking the batch costs a copy of the memory, which is not worth it for one question of many.
_SHARE_THAT_LEAVES = 8


@dataclass(frozen=True, slots=True)
class Found:
    """The best hypotheses of a question, the best first, and the score of the one that was next at that moment."""

    hypotheses: tuple[Hypothesis, ...]
    next_score: float


class SearchState(Protocol):
    """What a network remembers about the hypotheses that it is writing.

    Each has a place: ``width`` times the index of its question, plus its rank there.
    """

    def advance(self: _State, tokens: TokenIds) -> tuple[Array, _State]:
        """Read the last token of each hypothesis; the probabilities of the next (hypotheses, tokens).

        They need not sum to one: what cannot follow is left out. The caller may change them.
        """

    def follow(self: _State, parents: TokenIds, places: TokenIds) -> _State:
        """The state of hypotheses at these places, each of which continues the one with the number in ``parents``."""

    def select(self: _State, questions: TokenIds) -> _State:
        """The state of these questions only, which are renumbered; no other question has a hypothesis."""


_State = TypeVar("_State", bound=SearchState)


@dataclass(slots=True)
class _Beam:
    """The hypotheses of the questions that are still being searched; the best of each is first."""

    questions: TokenIds  # (active)
    scores: Array  # (active, width), minus infinity where there is none
    tokens: TokenIds  # (active, width, steps), with the start token
    places: TokenIds  # of those that are being written, ascending

    @classmethod
    def begin(cls, questions: int, width: int, start: int) -> _Beam:
        scores = np.full((questions, width), -np.inf, dtype=np.float32)
        scores[:, 0] = 0.0
        tokens = np.full((questions, width, 1), start, dtype=np.int64)
        return cls(np.arange(questions), scores, tokens, np.arange(questions) * width)

    def last_tokens(self) -> TokenIds:
        """The last token of each hypothesis that is being written."""
        last: TokenIds = self.tokens[:, :, -1].reshape(-1)[self.places]
        return last

    def select(self, rows: TokenIds) -> _Beam:
        width = self.scores.shape[1]
        questions, ranks = np.divmod(self.places, width)
        places = np.searchsorted(rows, questions) * width + ranks
        return _Beam(self.questions[rows], self.scores[rows], self.tokens[rows], places)

    def found(self, row: int, wanted: int, end: int, cost: Cost | None, *, last: bool = False) -> Found:
        """The best hypotheses at their cost; if this is the ``last`` time, those that never ended come last."""
        hypotheses = make_hypotheses(self.tokens[row, :, 1:].tolist(), self.scores[row].tolist(), end)
        if cost is not None:
            question = int(self.questions[row])
            charged = (
                replace(each, score=each.score - cost(question, each)) if each.finished else each for each in hypotheses
            )
            hypotheses = tuple(sorted(charged, key=lambda each: (last and not each.finished, -each.score)))
        return Found(hypotheses[:wanted], hypotheses[wanted].score if len(hypotheses) > wanted else -np.inf)


@dataclass(frozen=True, slots=True)
class BeamSearch:
    """A search for the ``wanted`` best sequences between two tokens that follow the rules."""

    start: int
    end: int
    rules: PlanRules
    beam_size: int
    max_steps: int
    wanted: int = 1
    most_behind: float = np.inf
    """How far behind the best hypothesis of its question the score of one may be that is written on."""

    def __call__(self, state: _State, questions: int, cost: Cost | None = None) -> list[Found]:
        """What is found for each question.

        Nothing that is added to a hypothesis makes it more probable, so a question is done as soon as the wanted number
        of its best hypotheses have ended. With a ``cost``, those that have ended are compared at their cost, and the
        others as if they cost nothing.
        """
        beam = _Beam.begin(questions, self.beam_size, self.start)
        results: dict[int, Found] = {}
        progress = [PlanProgress()] * questions
        for _ in range(self.max_steps):
            if not len(beam.places):
                break
            probabilities, state = state.advance(beam.last_tokens())
            if self.rules:
                for each, row in zip(progress, probabilities, strict=True):
                    row[self.rules.forbidden_ids(each)] = 0.0
            beam, parents = self._extended(beam, probabilities)
            done = self._note_found(beam, cost, results)
            self._drop(beam, done)
            continued = parents[beam.places]
            state = state.follow(continued, beam.places)
            pairs = zip(continued.tolist(), beam.last_tokens().tolist(), strict=True)
            progress = [self.rules.after(progress[parent], token) for parent, token in pairs]
            if len(done) > 1 and _SHARE_THAT_LEAVES * int(done.sum()) >= len(done):
                rows = np.flatnonzero(~done)
                beam, state = beam.select(rows), state.select(rows)
        for row, question in enumerate(beam.questions.tolist()):
            if question not in results:
                results[question] = beam.found(row, self.wanted, self.end, cost, last=True)
        return [results[question] for question in range(questions)]

    def _note_found(self, beam: _Beam, cost: Cost | None, results: dict[int, Found]) -> npt.NDArray[np.bool_]:
        """Add what is found for finished questions to the results; which of the beam's questions are finished."""
        done = np.array([question in results for question in beam.questions.tolist()])
        for row in np.flatnonzero((beam.tokens[:, 0, -1] == self.end) & ~done).tolist():
            found = beam.found(row, self.wanted, self.end, cost)
            if all(each.finished for each in found.hypotheses):
                results[int(beam.questions[row])] = found
                done[row] = True
        return done

    def _extended(self, beam: _Beam, probabilities: Array) -> tuple[_Beam, TokenIds]:
        """The best continuations, and for each place the index of the hypothesis that is continued there."""
        questions, width = beam.scores.shape
        best, gained = _best_of_each(probabilities, width)
        count = best.shape[1]
        # A hypothesis that has ended stays as it is: its only continuation is another end token, at no cost.
        tokens = np.full((questions * width, count), self.end)
        scores = np.full((questions * width, count), -np.inf, dtype=np.float32)
        before = beam.scores.reshape(-1)
        scores[:, 0] = np.where(beam.tokens[:, :, -1].reshape(-1) == self.end, before, -np.inf)
        tokens[beam.places] = best
        scores[beam.places] = gained + before[beam.places, None]
        # Stable, so that of equals the better hypothesis's comes first, as in a search by whole rows.
        order = np.argsort(-scores.reshape(questions, -1), axis=1, kind="stable")[:, :width]
        chosen = (order + np.arange(questions)[:, None] * (width * count)).reshape(-1)
        continued = chosen // count
        history = beam.tokens.reshape(questions * width, -1)[continued]
        extended = np.concatenate([history, tokens.reshape(-1)[chosen][:, None]], axis=1)
        numbers = np.zeros(questions * width, dtype=np.int64)
        numbers[beam.places] = np.arange(len(beam.places))
        found = _Beam(
            beam.questions,
            scores.reshape(-1)[chosen].reshape(questions, width),
            extended.reshape(questions, width, -1),
            beam.places,
        )
        return found, numbers[continued]

    def _drop(self, beam: _Beam, done: npt.NDArray[np.bool_]) -> None:
        """Go on writing what is possible and near the best, has not ended, and belongs to a question not done."""
        near = (beam.scores > -np.inf) & (beam.scores >= beam.scores[:, :1] - np.float32(self.most_behind))
        beam.places = np.flatnonzero(near & (beam.tokens[:, :, -1] != self.end) & ~done[:, None])


def _best_of_each(probabilities: Array, count: int) -> tuple[TokenIds, Array]:
    """The most probable tokens of each row and the logarithms of their probabilities, both (rows, count).

    A few passes for the maximum are faster than sorting.
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
