"""The step of the published CopyNet decoder, whose LSTM reads what the previous step attended to and copied."""

from __future__ import annotations

import torch
from torch import Tensor, nn

__all__ = ["AttentionFeedback", "weights_of_places"]


class AttentionFeedback(nn.Module):
    """An LSTM that reads the previous token, what its last output attends to, and where the token was copied from.

    The last of these is the mean state of the token's places in the question, weighted by the scores of copying each of
    them. A step depends on the previous one, so steps run one after another in training, too.
    """

    def __init__(self, embedding_dim: int, encoder_dim: int, hidden_dim: int) -> None:
        super().__init__()
        self.initial = nn.Linear(encoder_dim, 2 * hidden_dim)
        self.keys = nn.Linear(encoder_dim, hidden_dim, bias=False)
        self.inputs = nn.Linear(embedding_dim + 2 * encoder_dim, hidden_dim)
        self.lstm = nn.LSTMCell(hidden_dim, hidden_dim)

    def initial_state(self, memory_mean: Tensor) -> tuple[Tensor, Tensor]:
        """The LSTM's output and cell before the first step, each (batch, hidden_dim)."""
        output, cell = self.initial(memory_mean).tanh().chunk(2, dim=-1)
        return output, cell

    def forward(
        self,
        token: Tensor,
        copied_from: Tensor,
        hidden: tuple[Tensor, Tensor],
        keys: Tensor,
        states: Tensor,
        mask: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """One step for (batch, hypotheses): the LSTM's next output and cell, each with hidden_dim numbers.

        ``token`` is the embedding of the previous token, ``copied_from`` the state that it was copied from.
        """
        output, cell = hidden
        scores = output.matmul(keys) * output.shape[-1] ** -0.5  # (batch, hypotheses, positions)
        attention = scores.masked_fill(~mask[:, None, :], -torch.inf).softmax(dim=-1)
        inputs = self.inputs(torch.cat([token, attention.matmul(states), copied_from], dim=-1))
        flat = self.lstm(inputs.flatten(0, 1), (output.flatten(0, 1), cell.flatten(0, 1)))
        return flat[0].view_as(output), flat[1].view_as(cell)


def weights_of_places(same: Tensor, scores: Tensor) -> Tensor:
    """The shares of the places of a token, (batch, hypotheses, words), by their scores; all zero if it has none."""
    # Not infinity: if no place is the token's, a softmax over infinities has no gradient.
    lowest = torch.finfo(scores.dtype).min / 2
    return scores.masked_fill(~same, lowest).softmax(dim=-1) * same
