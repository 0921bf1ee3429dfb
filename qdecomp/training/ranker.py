"""The ranker of plans in torch, see :mod:`qdecomp.parsers.network`, and its training on lists of plans.

A list has the plans that a parser found for a question that it was not trained on, and which of them are right. The
loss of a list with right and wrong plans is the negative logarithm of the share that a softmax over the log-odds gives
to the right ones; besides, the log-odds of every plan are trained to be calibrated.
"""

# AllenNLP is not needed here, but torch is.

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from qdecomp.parsers.network import MOST_STEPS, MOST_TOKENS, MOST_USES, PLAN_FEATURES, Inputs

MOST_WORDS = 160


@dataclass(frozen=True, slots=True)
class RankedList:
    """The plans for a question as inputs, the states of its words (words, size), and how right each plan is."""

    words: npt.NDArray[np.float16]
    inputs: Inputs
    right: npt.NDArray[np.float32]

    @property
    def decides(self) -> bool:
        """Whether there is something to choose."""
        return bool(self.right.max() > self.right.min())

    @property
    def cost(self) -> int:
        """About how long it takes."""
        return len(self.words) + self.inputs["tokens"].shape[1]


class _Layer(nn.Module):
    """A transformer layer that normalises first."""

    def __init__(self, size: int, heads: int, inner: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.attention_norm = nn.LayerNorm(size)
        self.asked = nn.Linear(size, 3 * size)
        self.attended = nn.Linear(size, size)
        self.inner_norm = nn.LayerNorm(size)
        self.inner = nn.Linear(size, inner)
        self.outer = nn.Linear(inner, size)
        self.dropout = nn.Dropout(dropout)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        batch, length, size = states.shape
        asked = self.asked(self.attention_norm(states)).view(batch, length, 3, self.heads, size // self.heads)
        query, key, value = asked.permute(2, 0, 3, 1, 4)
        found = nn.functional.scaled_dot_product_attention(query, key, value, mask[:, None, None, :])
        states = states + self.dropout(self.attended(found.transpose(1, 2).reshape(batch, length, size)))
        inner = nn.functional.gelu(self.inner(self.inner_norm(states)))
        return states + self.dropout(self.outer(inner))


class PlanRanker(nn.Module):
    """From the inputs of lists to the log-odds of their plans."""

    def __init__(
        self, tokens: int, encoder_dim: int, size: int = 256, layers: int = 2, heads: int = 4, dropout: float = 0.1
    ) -> None:
        super().__init__()
        self.heads = heads
        self.summary = nn.Parameter(torch.zeros(size))
        self.words = nn.Linear(encoder_dim, size)
        self.copied = nn.Linear(encoder_dim, size, bias=False)
        self.tokens = nn.Embedding(tokens, size)
        self.steps = nn.Embedding(MOST_STEPS, size)
        self.uses = nn.Embedding(MOST_USES + 1, size)
        self.word_positions = nn.Embedding(MOST_WORDS, size)
        self.token_positions = nn.Embedding(MOST_TOKENS, size)
        self.sure = nn.Linear(2, size)
        self.plan = nn.Linear(PLAN_FEATURES, size)
        self.layers = nn.ModuleList(_Layer(size, heads, 2 * size, dropout) for _ in range(layers))
        self.norm = nn.LayerNorm(size)
        self.logit = nn.Linear(size, 1)
        self.dropout = nn.Dropout(dropout)
        for each in (self.tokens, self.steps, self.uses, self.word_positions, self.token_positions):
            nn.init.normal_(each.weight, std=0.1)

    def forward(self, words: Tensor, word_mask: Tensor, given: dict[str, Tensor]) -> Tensor:
        """Log-odds (plans) for plans with the words of their questions (plans, words, encoder_dim)."""
        of_words = self.words(words) + self.uses(given["uses"]) + self.word_positions.weight[: words.shape[1]]
        of_tokens = (
            self.tokens(given["tokens"])
            + self.steps(given["steps"])
            + self.sure(given["sure"])
            + given["places"].matmul(self.copied(words))
            + self.token_positions.weight[: given["tokens"].shape[1]]
        )
        summary = self.summary + self.plan(given["plans"])
        states = self.dropout(torch.cat([summary[:, None], of_words, of_tokens], dim=1))
        mask = torch.cat([torch.ones_like(word_mask[:, :1]), word_mask, given["written"] > 0], dim=1)
        for layer in self.layers:
            states = layer(states, mask)
        found: Tensor = self.logit(self.norm(states[:, 0])).squeeze(-1)
        return found


def list_loss(logits: Tensor, right: Tensor, lists: Tensor, calibrated: float = 0.5) -> Tensor:
    """The loss of plans whose list is numbered in ``lists``; ``right`` is between 0 and 1."""
    count = int(lists.max()) + 1
    highest = torch.full((count,), -torch.inf).scatter_reduce(0, lists, logits.detach(), "amax")
    weights = (logits - highest[lists]).exp()

    def total(values: Tensor) -> Tensor:
        """The sum of each list."""
        return torch.zeros(count).index_add(0, lists, values)

    most = torch.zeros(count).scatter_reduce(0, lists, right, "amax")
    least = torch.ones(count).scatter_reduce(0, lists, right, "amin")
    chosen = -(total(weights * right) / total(weights))[most > least].clamp(min=1e-9).log()
    odds = nn.functional.binary_cross_entropy_with_logits(logits, right, reduction="none")
    per_list = total(odds) / total(torch.ones_like(odds))
    return (chosen.sum() + calibrated * per_list.sum()) / count


# Which axes of a list's inputs, after that of its plans, are padded to the longest of a batch.
_AXES = {"tokens": "t", "steps": "t", "sure": "t", "places": "tw", "uses": "w", "written": "t", "plans": ""}


def collate(batch: Sequence[RankedList]) -> tuple[Tensor, Tensor, dict[str, Tensor], Tensor, Tensor]:
    """One batch of plans: words, which of them are there, inputs, how right each is, and the list of each."""
    sizes = {
        "t": max(each.inputs["tokens"].shape[1] for each in batch),
        "w": min(MOST_WORDS, max(len(each.words) for each in batch)),
    }

    def joined(arrays: Iterable[npt.NDArray[Any]], axes: str) -> Tensor:
        return torch.from_numpy(np.concatenate([_padded(each, [sizes[axis] for axis in axes]) for each in arrays]))

    counts = [len(each.right) for each in batch]
    words = joined((np.repeat(each.words[None].astype(np.float32), len(each.right), 0) for each in batch), "w")
    mask = joined((np.ones((len(each.right), len(each.words)), dtype=bool) for each in batch), "w")
    inputs = {name: joined((each.inputs[name] for each in batch), axes) for name, axes in _AXES.items()}
    lists = np.repeat(np.arange(len(batch)), counts)
    return words, mask, inputs, joined((each.right for each in batch), ""), torch.from_numpy(lists)


def _padded(array: npt.NDArray[Any], sizes: Sequence[int]) -> npt.NDArray[Any]:
    """An array whose axes after the first have these sizes: cut, or filled with zeros."""
    cut = array[(slice(None), *map(slice, sizes))]
    missing = [size - own for size, own in zip(sizes, cut.shape[1:], strict=False)]
    return np.pad(cut, [(0, 0), *((0, each) for each in missing), *[(0, 0)] * (array.ndim - 1 - len(sizes))])


def batches(lists: Sequence[RankedList], size: int, chance: random.Random) -> Iterator[list[RankedList]]:
    """Batches of lists of about the same length, in random order."""
    order = sorted(lists, key=lambda each: each.cost + 4 * chance.random())
    starts = list(range(0, len(order), size))
    chance.shuffle(starts)
    for start in starts:
        yield order[start : start + size]


@torch.no_grad()
def logits_of(model: PlanRanker, lists: Sequence[RankedList], size: int = 64) -> list[npt.NDArray[np.float32]]:
    """The log-odds of the plans of each list."""
    model.eval()
    order = sorted(range(len(lists)), key=lambda number: lists[number].cost)
    found: list[npt.NDArray[np.float32]] = [np.zeros(0, dtype=np.float32)] * len(lists)
    for start in range(0, len(order), size):
        numbers = order[start : start + size]
        words, mask, given, _, _ = collate([lists[number] for number in numbers])
        logits = model(words, mask, given).numpy()
        ends = np.cumsum([len(lists[number].right) for number in numbers])
        for number, part in zip(numbers, np.split(logits, ends[:-1]), strict=True):
            found[number] = part
    return found
