"""Turns gold edges, which readers give as lists of pairs, into the matrices that losses need.

Rows of an edge list are (head, dependent, label); those with numbers below 0 are padding.
"""

from __future__ import annotations

import torch

__all__ = ["edge_matrix", "label_matrix", "pair_mask"]


def edge_matrix(edges: torch.Tensor, size: int) -> torch.Tensor:
    """Whether each pair (head, dependent) has an edge. Shapes: (batch, edges, 3) to (batch, size, size)."""
    batch, numbers = _places(edges)
    matrix = edges.new_zeros((edges.size(0), size, size), dtype=torch.bool)
    matrix[batch, numbers[:, 0], numbers[:, 1]] = True
    return matrix


def label_matrix(edges: torch.Tensor, size: int, none: int) -> torch.Tensor:
    """The label of each pair, ``none`` if there is no edge. Shapes: (batch, edges, 3) to (batch, size, size)."""
    batch, numbers = _places(edges)
    matrix = edges.new_full((edges.size(0), size, size), none)
    matrix[batch, numbers[:, 0], numbers[:, 1]] = numbers[:, 2]
    return matrix


def pair_mask(mask: torch.Tensor) -> torch.Tensor:
    """Which pairs consist of two real tokens. Shapes: (batch, tokens) to (batch, tokens, tokens)."""
    return mask.unsqueeze(1) & mask.unsqueeze(2)


def _places(edges: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The rows that are edges and not padding, with the index of their question."""
    batch, row = (edges[..., 0] >= 0).nonzero(as_tuple=True)
    return batch, edges[batch, row]
