"""The ranker of plans in torch, see :mod:`qdecomp.parsers.ranker`, and its training on lists of plans.

A list has the plans that a parser found for a question that it was not trained on, and which of them are right. The
loss of a list with right and wrong plans is the negative logarithm of the share that a softmax over the log-odds gives
to the right ones; besides, the log-odds of every plan are trained to be calibrated.
"""

# AllenNLP is not needed here, but torch is.

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from qdecomp.parsers.ranker import MOST_STEPS, MOST_TOKENS, MOST_USES, PLAN_FEATURES, Inputs

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
    share = torch.stack(
        [torch.zeros(count).index_add(0, lists, weights * right), torch.zeros(count).index_add(0, lists, weights)]
    )
    most = torch.zeros(count).scatter_reduce(0, lists, right, "amax")
    least = torch.ones(count).scatter_reduce(0, lists, right, "amin")
    decides = most > least
    chosen = -(share[0, decides] / share[1, decides]).clamp(min=1e-9).log()
    odds = nn.functional.binary_cross_entropy_with_logits(logits, right, reduction="none")
    per_list = torch.zeros(count).index_add(0, lists, odds) / torch.zeros(count).index_add(
        0, lists, torch.ones_like(odds)
    )
    return (chosen.sum() + calibrated * per_list.sum()) / count


def collate(batch: Sequence[RankedList]) -> tuple[Tensor, Tensor, dict[str, Tensor], Tensor, Tensor]:
    """One batch of plans: words, which of them are there, inputs, how right each is, and the list of each."""
    plans = sum(len(each.right) for each in batch)
    longest = max(each.inputs["tokens"].shape[1] for each in batch)
    most = min(MOST_WORDS, max(len(each.words) for each in batch))
    words = np.zeros((plans, most, batch[0].words.shape[1]), dtype=np.float32)
    mask = np.zeros((plans, most), dtype=bool)
    given: dict[str, npt.NDArray[np.generic]] = {
        "tokens": np.zeros((plans, longest), dtype=np.int64),
        "steps": np.zeros((plans, longest), dtype=np.int64),
        "sure": np.zeros((plans, longest, 2), dtype=np.float32),
        "places": np.zeros((plans, longest, most), dtype=np.float32),
        "uses": np.zeros((plans, most), dtype=np.int64),
        "written": np.zeros((plans, longest), dtype=np.float32),
        "plans": np.zeros((plans, PLAN_FEATURES), dtype=np.float32),
    }
    lists = np.zeros(plans, dtype=np.int64)
    start = 0
    for number, each in enumerate(batch):
        end, count, length = start + len(each.right), min(most, len(each.words)), each.inputs["tokens"].shape[1]
        words[start:end, :count] = each.words[:count]
        mask[start:end, :count] = True
        lists[start:end] = number
        for name in ("tokens", "steps", "sure", "written"):
            given[name][start:end, :length] = each.inputs[name]
        given["places"][start:end, :length, :count] = each.inputs["places"][:, :, :count]
        given["uses"][start:end, :count] = each.inputs["uses"][:, :count]
        given["plans"][start:end] = each.inputs["plans"]
        start = end
    right = torch.from_numpy(np.concatenate([each.right for each in batch]))
    tensors = {name: torch.from_numpy(array) for name, array in given.items()}
    return torch.from_numpy(words), torch.from_numpy(mask), tensors, right, torch.from_numpy(lists)


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
