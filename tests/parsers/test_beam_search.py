"""The search in NumPy finds what the one in torch finds, and compares what has ended at its cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch

from qdecomp.parsers.beam_search import BeamSearch, Cost, Found, NextTokens, best_of_each
from qdecomp.parsers.hypothesis import Hypothesis
from qdecomp.parsers.layers import Array
from qdecomp.parsers.plan_rules import PlanRules, TokenIds
from tests.training.test_beam_search import END, START, TableState, search_many, tables

NO_RULES = PlanRules(("@start@", "@end@", ";"), ";", "@end@", False)


@dataclass(frozen=True)
class Tables:
    """Each question's probabilities of the next token given the last one, and the question of each hypothesis."""

    probabilities: Array
    width: int
    questions: TokenIds

    def next_tokens(self, tokens: TokenIds, forbidden: Sequence[TokenIds], count: int) -> tuple[NextTokens, Tables]:
        assert not any(len(ids) for ids in forbidden)
        return best_of_each(self.probabilities[self.questions, tokens], count), self

    def follow(self, parents: TokenIds, places: TokenIds) -> Tables:
        np.testing.assert_array_equal(self.questions[parents], places // self.width)
        return replace(self, questions=places // self.width)

    def select(self, questions: TokenIds) -> Tables:
        assert set(self.questions.tolist()) <= set(questions.tolist())
        return replace(
            self, probabilities=self.probabilities[questions], questions=np.searchsorted(questions, self.questions)
        )


def search(state: TableState, *, beam_size: int, wanted: int = 1, cost: Cost | None = None) -> list[Found]:
    count = len(state.tables)
    beam_search = BeamSearch(START, END, NO_RULES, beam_size=beam_size, max_steps=12, wanted=wanted)
    return beam_search(Tables(state.tables.exp().numpy(), beam_size, np.arange(count)), count, cost)


def two_is_dear(question: int, hypothesis: Hypothesis) -> float:
    return 1.5 * hypothesis.tokens.count(2) + 0.25 * question


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("wanted", [1, 3])
def test_both_searches_find_the_same(seed: int, wanted: int) -> None:
    state = TableState(tables(6, seed))
    expected = search_many(state, beam_size=4, max_steps=12, wanted=wanted)
    for ours, theirs in zip(search(state, beam_size=4, wanted=wanted), expected, strict=True):
        assert [each.tokens for each in ours.hypotheses] == [each.tokens for each in theirs]
        assert [each.score for each in ours.hypotheses] == pytest.approx([each.score for each in theirs], abs=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_the_answer_at_its_cost_is_the_best_of_the_whole_beam(seed: int) -> None:
    """The search stops early, but never before the answer is sure."""
    state = TableState(tables(6, seed))
    whole = search_many(state, beam_size=5, max_steps=12, wanted=5)
    changed = 0
    for number, (found, hypotheses) in enumerate(zip(search(state, beam_size=5, cost=two_is_dear), whole, strict=True)):
        best = max(
            (each for each in hypotheses if each.finished), key=lambda each: each.score - two_is_dear(number, each)
        )
        (answer,) = found.hypotheses
        assert answer.tokens == best.tokens
        assert answer.score == pytest.approx(best.score - two_is_dear(number, best), abs=1e-4)
        changed += answer.tokens != hypotheses[0].tokens
    assert changed


def test_a_question_s_answer_does_not_depend_on_the_others() -> None:
    state = TableState(tables(9, seed=11))
    free_of_place: Cost = lambda _, hypothesis: 1.5 * hypothesis.tokens.count(2)  # noqa: E731 - a cost is a function
    together = search(state, beam_size=5, cost=free_of_place)
    for number in range(9):
        alone = TableState(state.tables[torch.tensor([number])])
        assert search(alone, beam_size=5, cost=free_of_place) == [together[number]]


def test_hypotheses_far_behind_are_not_written_on() -> None:
    state = TableState(tables(9, seed=5))
    written: list[int] = []

    @dataclass(frozen=True)
    class Counting(Tables):
        def next_tokens(self, tokens: TokenIds, forbidden: Sequence[TokenIds], count: int) -> tuple[NextTokens, Tables]:
            written.append(int(np.bincount(self.questions).max()))
            return super().next_tokens(tokens, forbidden, count)

    def found(most_behind: float) -> list[Found]:
        written.clear()
        beam_search = BeamSearch(START, END, NO_RULES, beam_size=5, max_steps=12, most_behind=most_behind)
        return beam_search(Counting(state.tables.exp().numpy(), 5, np.arange(9)), 9)

    assert found(1000.0) == search(state, beam_size=5)
    assert max(written) > 1
    found(0.0)
    assert max(written) == 1
