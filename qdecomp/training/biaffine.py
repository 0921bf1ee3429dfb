"""Biaffine scores of pairs of states, for all pairs of a question or only for some."""

from __future__ import annotations

import torch

__all__ = ["Biaffine"]


class Biaffine(torch.nn.Module):
    """``outputs`` scores for a pair of vectors x, y: ``[x 1] W [y 1]`` with a matrix W for each output.

    The matrices start as zeros, except for ``bias``, the score of every pair before training.
    """

    def __init__(self, dimension: int, outputs: int = 1, bias: float = 0.0) -> None:
        super().__init__()
        self.outputs = outputs
        # As one matrix, so that the first halves of all products are one multiplication.
        self.weight = torch.nn.Parameter(torch.zeros(dimension + 1, outputs * (dimension + 1)))
        with torch.no_grad():
            self.weight.view(dimension + 1, outputs, dimension + 1)[-1, :, -1] = bias

    def all_pairs(self, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        """Scores of every pair. Shapes: twice (batch, tokens, dimension) to (batch, tokens, tokens, outputs)."""
        batch, tokens, _ = first.shape
        # Shape: (batch, tokens * outputs, dimension + 1)
        half = (_with_one(first) @ self.weight).view(batch, tokens * self.outputs, second.size(-1) + 1)
        scores = torch.bmm(half, _with_one(second).transpose(1, 2))
        return scores.view(batch, tokens, self.outputs, tokens).transpose(2, 3)

    def pairs(self, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        """Scores of given pairs. Shapes: twice (pairs, dimension) to (pairs, outputs)."""
        half = (_with_one(first) @ self.weight).view(len(first), self.outputs, second.size(-1) + 1)
        return torch.bmm(half, _with_one(second).unsqueeze(-1)).squeeze(-1)


def _with_one(vectors: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.pad(vectors, (0, 1), value=1.0)
