"""The beam search finds the most probable sequences, and compares what has ended at its cost."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest

from qdecomp.parsers.network import Array
from qdecomp.parsers.plan_rules import PlanRules, TokenIds
from qdecomp.parsers.search import BeamSearch, Cost, Found, Hypothesis, NextTokens

START, END, VOCABULARY = 0, 1, 4
NO_RULES = PlanRules(("@start@", "@end@", ";"), ";", "@end@", False)


@dataclass(frozen=True)
class Tables:
    """Each question's log probabilities of the next token given the last one, and the question of each hypothesis."""

    scores: Array
    width: int
    questions: TokenIds

    def next_tokens(self, tokens: TokenIds, forbidden: Sequence[TokenIds], count: int) -> tuple[NextTokens, Tables]:
        assert not any(len(ids) for ids in forbidden)
        rows = self.scores[self.questions, tokens]
        best = np.argsort(-rows, axis=1, kind="stable")[:, :count]
        return NextTokens(best.tolist(), np.take_along_axis(rows, best, axis=1).tolist()), self

    def follow(self, parents: TokenIds, places: TokenIds) -> Tables:
        np.testing.assert_array_equal(self.questions[parents], places // self.width)
        return replace(self, questions=places // self.width)

    def select(self, questions: TokenIds) -> Tables:
        assert set(self.questions.tolist()) <= set(questions.tolist())
        return replace(self, scores=self.scores[questions], questions=np.searchsorted(questions, self.questions))


def tables(questions: int, seed: int) -> Array:
    scores = 2 * np.random.default_rng(seed).standard_normal((questions, VOCABULARY, VOCABULARY))
    scores[:, :, START] = -np.inf
    found: Array = (scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True))).astype(np.float32)
    return found


def search(
    scores: Array, beam_size: int, *, max_steps: int = 12, wanted: int = 1, cost: Cost | None = None
) -> list[Found]:
    beam_search = BeamSearch(START, NO_RULES, beam_size=beam_size, max_steps=max_steps, wanted=wanted)
    return beam_search(Tables(scores, beam_size, np.arange(len(scores))), [None] * len(scores), cost)


def by_brute_force(table: Array, max_steps: int) -> list[tuple[tuple[int, ...], float]]:
    """All sequences with their scores, the best first; those of the full length have not ended."""
    found = []
    for length in range(max_steps + 1):
        for words in itertools.product(range(2, VOCABULARY), repeat=length):
            whole = (START, *words, END) if length < max_steps else (START, *words)
            found.append((words, float(sum(table[left, right] for left, right in itertools.pairwise(whole)))))
    return sorted(found, key=lambda pair: -pair[1])


def two_is_dear(question: int, hypothesis: Hypothesis) -> float:
    return 1.5 * hypothesis.tokens.count(2) + 0.25 * question


@pytest.mark.parametrize("seed", range(5))
def test_a_wide_beam_finds_the_best_sequences_in_order(seed: int) -> None:
    scores = tables(7, seed)
    for table, one, many in zip(
        scores, search(scores, 500, max_steps=5), search(scores, 500, max_steps=5, wanted=4), strict=True
    ):
        expected = by_brute_force(table, max_steps=5)[:4]
        # Sequences with the same pairs of tokens have the same score.
        assert many.hypotheses[0].tokens == expected[0][0]
        assert len({each.tokens for each in many.hypotheses}) == 4
        assert [each.score for each in many.hypotheses] == pytest.approx([score for _, score in expected], abs=1e-4)
        assert one.hypotheses == many.hypotheses[:1]
        assert one.hypotheses[0].finished == (len(expected[0][0]) < 5)


def test_a_beam_of_one_is_greedy() -> None:
    scores = tables(1, seed=1)
    token, greedy = START, []
    while len(greedy) < 5 and (token := int(scores[0, token].argmax())) != END:
        greedy.append(token)
    assert search(scores, 1, max_steps=5)[0].hypotheses[0].tokens == tuple(greedy)


def test_a_sequence_without_end_is_given_as_unfinished() -> None:
    endless = np.full((1, VOCABULARY, VOCABULARY), -50.0, dtype=np.float32)
    endless[:, :, 2] = 0.0
    assert search(endless, 2, max_steps=3)[0].hypotheses == (Hypothesis((2, 2, 2), 0.0, False, (0.0, 0.0, 0.0)),)


@pytest.mark.parametrize("seed", [0, 2, 3])
def test_the_answer_at_its_cost_is_the_best_of_the_whole_beam(seed: int) -> None:
    """The search stops early, but never before the answer is sure."""
    scores = tables(6, seed)
    changed = 0
    for number, (found, whole) in enumerate(
        zip(search(scores, 5, cost=two_is_dear), search(scores, 5, wanted=5), strict=True)
    ):
        best = max(
            (each for each in whole.hypotheses if each.finished),
            key=lambda each: each.score - two_is_dear(number, each),
        )
        (answer,) = found.hypotheses
        assert answer.tokens == best.tokens
        assert answer.score == pytest.approx(best.score - two_is_dear(number, best), abs=1e-4)
        changed += answer.tokens != whole.hypotheses[0].tokens
    assert changed


@pytest.mark.parametrize("beam_size", [1, 2, 5])
def test_a_question_s_answer_does_not_depend_on_the_others(beam_size: int) -> None:
    scores = tables(9, seed=11)
    free_of_place: Cost = lambda _, hypothesis: 1.5 * hypothesis.tokens.count(2)  # noqa: E731 - a cost is a function
    together = search(scores, beam_size, cost=free_of_place)
    for number in range(9):
        assert search(scores[number : number + 1], beam_size, cost=free_of_place) == [together[number]]
