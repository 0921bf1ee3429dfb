"""Beam search over a whole batch at once: examples and hypotheses are two dimensions of one tensor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

import torch
from torch import Tensor

from qdecomp.parsers.hypothesis import Hypothesis, make_hypotheses


class TorchSearchState(Protocol):
    """What a decoder remembers about the hypotheses of each example."""

    def select(self: _State, examples: Tensor) -> _State:
        """The state of these examples only (their indices)."""

    def reorder(self: _State, parents: Tensor) -> _State:
        """The state in which hypothesis ``j`` of example ``i`` continues hypothesis ``parents[i, j]``."""


_State = TypeVar("_State", bound=TorchSearchState)


@dataclass(slots=True)
class _Beam:
    """The hypotheses of the examples that are still being searched; the best of each is first."""

    examples: Tensor  # (active)
    scores: Tensor  # (active, width)
    tokens: Tensor  # (active, width, steps), with the start token

    def select(self, rows: Tensor) -> _Beam:
        return _Beam(self.examples[rows], self.scores[rows], self.tokens[rows])

    def results(self, row: int, wanted: int, end: int) -> tuple[Hypothesis, ...]:
        tokens, scores = self.tokens[row, :wanted, 1:], self.scores[row, :wanted]
        return make_hypotheses(tokens.tolist(), scores.tolist(), end)


def torch_beam_search(
    state: _State,
    advance: Callable[[Tensor, _State], tuple[Tensor, _State]],
    *,
    examples: int,
    start: int,
    end: int,
    beam_size: int = 5,
    max_steps: int = 100,
    device: torch.device | None = None,
    wanted: int = 1,
) -> list[tuple[Hypothesis, ...]]:
    """The ``wanted`` best sequences for each example, the best first.

    ``advance`` takes the sequences so far (examples, hypotheses, steps) and the state, and gives the logarithms of the
    probabilities of the next token (examples, hypotheses, tokens) and the new state.

    Nothing that is added to a hypothesis makes it more probable, so an example is done as soon as the wanted number of
    its best hypotheses have ended. Examples that are done leave the batch.
    """
    beam = _Beam(
        torch.arange(examples, device=device),
        torch.zeros(examples, 1, device=device),
        torch.full((examples, 1, 1), start, device=device),
    )
    results: dict[int, tuple[Hypothesis, ...]] = {}
    for _ in range(max_steps):
        log_probabilities, state = advance(beam.tokens, state)
        beam, parents = _extend(beam, log_probabilities, end, beam_size)
        state = state.reorder(parents)
        done = (beam.tokens[:, :wanted, -1] == end).all(dim=1)
        # Shrinking the batch costs a copy of the state, which is not worth it for single examples.
        if 4 * int(done.sum()) >= len(done):
            for row in done.nonzero().flatten().tolist():
                results[int(beam.examples[row])] = beam.results(row, wanted, end)
            rows = (~done).nonzero().flatten()
            beam, state = beam.select(rows), state.select(rows)
            if not len(rows):
                break
    for row, example in enumerate(beam.examples.tolist()):
        results[example] = beam.results(row, wanted, end)
    return [results[example] for example in range(examples)]


def _extend(beam: _Beam, log_probabilities: Tensor, end: int, beam_size: int) -> tuple[_Beam, Tensor]:
    """The best continuations, and which hypothesis each continues."""
    vocabulary = log_probabilities.shape[2]
    ended = beam.tokens[:, :, -1] == end
    if bool(ended.any()):
        # A hypothesis that has ended stays as it is: its only continuation is another end token, at no cost.
        log_probabilities = log_probabilities.masked_fill(ended[:, :, None], -torch.inf)
        log_probabilities[:, :, end].masked_fill_(ended, 0.0)
    total = (beam.scores[:, :, None] + log_probabilities).flatten(1)
    scores, places = total.topk(min(beam_size, total.shape[1]), dim=1)
    parents, tokens = places.div(vocabulary, rounding_mode="floor"), places.remainder(vocabulary)
    history = beam.tokens.gather(1, parents[:, :, None].expand(-1, -1, beam.tokens.shape[2]))
    return _Beam(beam.examples, scores, torch.cat([history, tokens[:, :, None]], dim=2)), parents
