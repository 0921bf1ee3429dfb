"""Weights of questions in a loss, so that training settles on one of several annotations that are all possible.

The usual loss asks for probabilities: if half of the annotators draw one edge and half another, the best parser gives
each of them one half, and a parser that takes edges above one half takes neither. Weighted by the probability of its
whole annotation, a question teaches the more, the closer the parser already is to it. So the parser becomes sure of the
commonest way of annotating, and rare ones disturb it less.
"""

from __future__ import annotations

import torch

__all__ = ["mode_seeking_weights"]


def mode_seeking_weights(losses: torch.Tensor, power: float) -> torch.Tensor:
    """For each question, the probability of its annotation to this power, relative to the mean of the batch.

    ``losses`` are the negative logarithms of these probabilities. With a power of 0, all weights are 1.

    >>> mode_seeking_weights(torch.tensor([0.0, 10.0]), 0.0).tolist()
    [1.0, 1.0]
    """
    return torch.softmax(-power * losses.detach(), dim=0) * len(losses)
