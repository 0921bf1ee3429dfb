"""The labels of a graph's edges, derived from the relations of relation-aware layers.

The relations for keys and those for values each give a distribution over labels (NONE among them) for every pair of
tokens. Both are trained, in every layer; a prediction is the normalised product of the last layer's two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from qdecomp.training.relation_aware import Relations

__all__ = ["RelationLabels"]

# The probability of no edge before anything has been learned.
_FIRST_NONE = 0.99
_NOT_COUNTED = -1


class RelationLabels(nn.Module):
    """``S = R W + b`` for keys and for values; the label ``none`` comes after the others."""

    def __init__(self, head_dim: int, num_labels: int) -> None:
        super().__init__()
        self.none = num_labels
        self.keys = nn.Linear(head_dim, num_labels + 1)
        self.values = nn.Linear(head_dim, num_labels + 1)
        # Nearly all pairs have no edge. Starting from that saves the steps in which nothing else would be learned.
        for linear in (self.keys, self.values):
            nn.init.constant_(linear.bias[-1:], math.log(_FIRST_NONE / (1 - _FIRST_NONE) * max(num_labels, 1)))

    def loss(self, layers: Sequence[Relations], gold: Tensor, counted: Tensor) -> Tensor:
        """The mean cross entropy over the counted pairs, summed over keys, values and layers.

        ``gold`` has the label of each pair, below 0 if it is unknown, and ``counted`` says which pairs count. Both are
        (batch, tokens, tokens).
        """
        counted = counted & (gold >= 0)
        labels = gold.masked_fill(~counted, _NOT_COUNTED).flatten()
        losses = [
            nn.functional.cross_entropy(
                score(relations).flatten(0, 2), labels, ignore_index=_NOT_COUNTED, reduction="sum"
            )
            for layer in layers
            for score, relations in ((self.keys, layer.keys), (self.values, layer.values))
        ]
        return torch.stack(losses).sum() / counted.sum().clamp(min=1)

    def log_probabilities(self, relations: Relations) -> Tensor:
        """The logarithm of the product of both distributions, normalised: (batch, tokens, tokens, labels + 1)."""
        by_key = self.keys(relations.keys).log_softmax(dim=-1)
        by_value = self.values(relations.values).log_softmax(dim=-1)
        return (by_key + by_value).log_softmax(dim=-1)
