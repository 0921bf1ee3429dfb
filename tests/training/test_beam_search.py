from __future__ import annotations

import itertools
from dataclasses import dataclass

import pytest
import torch
from torch import Tensor

from qdecomp.parsers.hypothesis import Hypothesis
from qdecomp.training.beam_search import torch_beam_search

START, END, VOCABULARY = 0, 1, 4


@dataclass(frozen=True)
class TableState:
    """The tables of log probabilities: for each example, the next token given the last one."""

    tables: Tensor

    def select(self, examples: Tensor) -> TableState:
        return TableState(self.tables[examples])

    def reorder(self, parents: Tensor) -> TableState:
        return self


def advance(tokens: Tensor, state: TableState) -> tuple[Tensor, TableState]:
    rows = torch.arange(len(tokens))[:, None]
    return state.tables[rows, tokens[:, :, -1]].clone(), state


def tables(examples: int, seed: int) -> Tensor:
    torch.manual_seed(seed)
    scores = 2 * torch.randn(examples, VOCABULARY, VOCABULARY)
    scores[:, :, START] = -torch.inf
    return scores.log_softmax(dim=-1)


def search(state: TableState, beam_size: int, max_steps: int = 5) -> list[Hypothesis]:
    return [best for (best,) in search_many(state, beam_size, max_steps, wanted=1)]


def search_many(state: TableState, beam_size: int, max_steps: int, wanted: int) -> list[tuple[Hypothesis, ...]]:
    return torch_beam_search(
        state,
        advance,
        examples=len(state.tables),
        start=START,
        end=END,
        beam_size=beam_size,
        max_steps=max_steps,
        wanted=wanted,
    )


def best_by_brute_force(table: Tensor, max_steps: int) -> tuple[tuple[int, ...], float]:
    best: tuple[tuple[int, ...], float] = ((), -float("inf"))
    for length in range(max_steps + 1):
        for words in itertools.product(range(2, VOCABULARY), repeat=length):
            whole = (START, *words, END) if length < max_steps else (START, *words)
            score = sum(float(table[left, right]) for left, right in itertools.pairwise(whole))
            if score > best[1]:
                best = (words, score)
    return best


@pytest.mark.parametrize("seed", range(5))
def test_a_wide_beam_finds_the_best_sequence(seed: int) -> None:
    state = TableState(tables(7, seed))
    for table, found in zip(state.tables, search(state, beam_size=500, max_steps=5), strict=True):
        tokens, score = best_by_brute_force(table, max_steps=5)
        assert found.tokens == tokens
        assert found.score == pytest.approx(score, abs=1e-4)
        assert found.finished == (len(tokens) < 5)


@pytest.mark.parametrize("beam_size", [1, 2, 5])
def test_an_example_s_result_does_not_depend_on_the_others(beam_size: int) -> None:
    everything = tables(20, seed=3)
    together = search(TableState(everything), beam_size, max_steps=12)
    for example, found in enumerate(together):
        alone = search(TableState(everything[example : example + 1]), beam_size, max_steps=12)[0]
        assert alone.tokens == found.tokens
        assert alone.score == pytest.approx(found.score)


def test_a_beam_of_one_is_greedy() -> None:
    table = tables(1, seed=1)
    token, greedy = START, []
    while len(greedy) < 5:
        token = int(table[0, token].argmax())
        if token == END:
            break
        greedy.append(token)
    assert search(TableState(table), beam_size=1)[0].tokens == tuple(greedy)


def test_a_sequence_without_end_is_given_as_unfinished() -> None:
    endless = torch.full((1, VOCABULARY, VOCABULARY), -50.0)
    endless[:, :, 2] = 0.0
    assert search(TableState(endless), beam_size=2, max_steps=3) == [Hypothesis((2, 2, 2), 0.0, finished=False)]


def test_there_may_be_no_example() -> None:
    assert search(TableState(tables(0, seed=0)), beam_size=2) == []


def test_the_best_sequences_are_given_in_order_and_begin_with_the_best() -> None:
    state = TableState(tables(7, seed=2))
    for several, best in zip(search_many(state, 200, 5, wanted=4), search(state, 200), strict=True):
        assert several[0] == best
        assert len({each.tokens for each in several}) == len(several) == 4
        assert [each.score for each in several] == sorted((each.score for each in several), reverse=True)
