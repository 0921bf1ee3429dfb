"""Beam search over many questions at once, for networks that generate one token at a time.

All hypotheses of all questions take a step together, but only those that may still matter: not those that have ended,
nor those that are far behind the best of their question or cannot become the answer. A question has few hypotheses, so
they are plain objects: for so few numbers, arrays would take longer. Networks in torch and in onnxruntime are searched
by the same code, through a :class:`SearchState`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from operator import itemgetter
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from qdecomp.parsers.plan_rules import NamePlaces, PlanProgress, PlanRules, TokenIds

# Shrinking the batch costs a copy of the memory, which is not worth it for one question of many.
_SHARE_THAT_LEAVES = 8


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A sequence without its end token, and its log probability, minus its cost."""

    tokens: tuple[int, ...]
    score: float
    finished: bool
    logarithms: tuple[float, ...] = ()
    """The log probability of each token, and of the end if it is finished."""


Cost = Callable[[int, Hypothesis], float]
"""What is taken off the score of a question's ended hypothesis; 0 or more."""


@dataclass(frozen=True, slots=True)
class Found:
    """The best hypotheses of a question, the best first, and the score of the first that is not among them."""

    hypotheses: tuple[Hypothesis, ...]
    next_score: float


class NextTokens(NamedTuple):
    """The most probable next tokens of each hypothesis and the logarithms of their probabilities, the best first."""

    tokens: list[list[int]]
    logarithms: list[list[float]]


class SearchState(Protocol):
    """What a network remembers about the hypotheses of a search.

    Each has a place: ``width`` times the index of its question, plus its rank there.
    """

    def next_tokens(
        self: _State, tokens: TokenIds, forbidden: Sequence[TokenIds], count: int
    ) -> tuple[NextTokens, _State]:
        """Read the last token of each hypothesis; the next ones, without those that are forbidden to each."""

    def follow(self: _State, parents: TokenIds, places: TokenIds) -> _State:
        """The state of hypotheses at these places, each of which continues the one with the number in ``parents``."""

    def select(self: _State, questions: TokenIds) -> _State:
        """The state of these questions only, which are renumbered; no other question has a hypothesis."""


_State = TypeVar("_State", bound=SearchState)


@dataclass(slots=True)
class _Beamed:
    """A hypothesis in the beam of its question."""

    tokens: tuple[int, ...]  # with the start token, and the end token if it has ended
    score: float
    ended: bool
    progress: PlanProgress  # up to the last token if it is continued
    parent: int  # the row that it continues
    logarithms: tuple[float, ...] = ()
    is_open: bool = False
    """Whether it is continued."""
    cost: float | None = None
    """What is taken off its score, once this has been asked for."""


@dataclass(slots=True)
class _Search:
    """The search for one question; the best hypothesis of its beam is first."""

    settings: BeamSearch
    rules: PlanRules
    number: int
    cost: Cost | None
    beam: list[_Beamed]
    open: list[_Beamed]
    """Those that are continued."""
    found: Found | None = None

    def extend(self, found: NextTokens, rows: Iterator[int]) -> None:
        """Keep the best continuations; each open hypothesis takes the next row."""
        options: list[tuple[float, _Beamed, int, int]] = []
        for each in self.beam:
            if each.ended:
                options.append((each.score, each, self.rules.end, 0))
            elif each.is_open:
                row, score = next(rows), each.score
                for token, logarithm in zip(found.tokens[row], found.logarithms[row], strict=True):
                    options.append((score + logarithm, each, token, row))
        # Stable, so that of equals the better hypothesis's comes first.
        options.sort(key=itemgetter(0), reverse=True)
        kept = [option for option in options[: self.settings.beam_size] if option[0] > -inf]
        self.open = []
        if kept:
            self.beam = [self._continued(*option) for option in kept]
            self._choose_open()

    def _continued(self, score: float, each: _Beamed, token: int, row: int) -> _Beamed:
        if each.ended:
            return each
        logarithms = (*each.logarithms, score - each.score)
        return _Beamed((*each.tokens, token), score, token == self.rules.end, each.progress, row, logarithms)

    def _choose_open(self) -> None:
        """Continue what is near the best, has not ended, and can still become the answer."""
        settings, first = self.settings, self.beam[0]
        least, answer = first.score - settings.most_behind, -inf
        if first.ended:
            found = self.best()
            if all(each.finished for each in found.hypotheses):
                self.found = found
                return
            if settings.wanted == 1:
                answer = max(each.score - each.cost for each in self.beam if each.cost is not None)
        for each in self.beam:
            if not each.ended and each.score >= least and each.score > answer:
                each.is_open = True
                each.progress = self.rules.after(each.progress, each.tokens[-1])
                self.open.append(each)

    def best(self, *, last: bool = False) -> Found:
        """The best hypotheses; at their cost, those that never ended come last if this is the ``last`` time."""
        wanted = self.settings.wanted
        unfinished_last = last and self.cost is not None
        hypotheses: list[Hypothesis] = []
        for each in self.beam:
            # Costs take time to compute, and no cost makes a plan better.
            if not unfinished_last and len(hypotheses) > wanted and each.score <= hypotheses[wanted].score:
                break
            hypotheses.append(self._at_its_cost(each))
            hypotheses.sort(key=lambda found: (unfinished_last and not found.finished, -found.score))
        return Found(tuple(hypotheses[:wanted]), hypotheses[wanted].score if len(hypotheses) > wanted else -inf)

    def _at_its_cost(self, each: _Beamed) -> Hypothesis:
        tokens = each.tokens[1:-1] if each.ended else each.tokens[1:]
        found = Hypothesis(tokens, each.score, each.ended, each.logarithms)
        if not each.ended:
            return found
        if each.cost is None:
            each.cost = 0.0 if self.cost is None else self.cost(self.number, found)
        return replace(found, score=each.score - each.cost)


@dataclass(frozen=True, slots=True)
class BeamSearch:
    """A search for the ``wanted`` best sequences between two tokens that follow the rules."""

    start: int
    rules: PlanRules
    beam_size: int
    max_steps: int
    wanted: int = 1
    most_behind: float = inf
    """A hypothesis is continued only if its score is at most so far below the best of its question."""

    def __call__(self, state: _State, names: Sequence[NamePlaces | None], cost: Cost | None = None) -> list[Found]:
        """What is found for each question, given the names in it.

        Nothing that is added to a hypothesis makes it more probable, so a question is done as soon as the wanted number
        of its best hypotheses have ended. With a ``cost``, those that have ended are compared at their cost, and the
        others as if they cost nothing.
        """
        first = [_Beamed((self.start,), 0.0, False, PlanProgress(), 0, is_open=True)]
        searches = [
            _Search(self, self.rules.with_names(each), number, cost, first, first) for number, each in enumerate(names)
        ]
        active = searches
        for _ in range(self.max_steps):
            last_tokens = [each.tokens[-1] for search in active for each in search.open]
            if not last_tokens:
                break
            forbidden = [search.rules.forbidden(each.progress) for search in active for each in search.open]
            found, state = state.next_tokens(np.array(last_tokens), forbidden, self.beam_size)
            rows = iter(range(len(last_tokens)))
            for search in active:
                if search.open:
                    search.extend(found, rows)
            active, state = self._followed(active, state)
        return [search.found or search.best(last=True) for search in searches]

    def _followed(self, active: list[_Search], state: _State) -> tuple[list[_Search], _State]:
        """The state after a step, and the questions that it is about; those that are done leave the batch."""
        places = [place * self.beam_size + rank for place, each in enumerate(active) for rank in range(len(each.open))]
        parents = [hypothesis.parent for each in active for hypothesis in each.open]
        state = state.follow(np.array(parents, dtype=np.int64), np.array(places, dtype=np.int64))
        left = [place for place, each in enumerate(active) if each.open]
        if left and _SHARE_THAT_LEAVES * (len(active) - len(left)) >= len(active) > 1:
            return [active[place] for place in left], state.select(np.array(left))
        return active, state
