from __future__ import annotations

import torch

from qdecomp.training.fields import NO_EDGE, edge_matrix, label_matrix, pair_mask

EDGES = torch.tensor([[[0, 2, 7], [2, 1, NO_EDGE]], [[1, 0, 3], [NO_EDGE] * 3]])


def test_edges() -> None:
    matrix = edge_matrix(EDGES, 3)
    assert matrix.nonzero().tolist() == [[0, 0, 2], [0, 2, 1], [1, 1, 0]]


def test_labels() -> None:
    matrix = label_matrix(EDGES, 3, none=50)
    assert matrix[0].tolist() == [[50, 50, 7], [50, 50, 50], [50, NO_EDGE, 50]]
    assert matrix[1].tolist() == [[50, 50, 50], [3, 50, 50], [50, 50, 50]]


def test_pairs_of_real_tokens() -> None:
    assert pair_mask(torch.tensor([[True, True, False]]))[0].tolist() == [[True, True, False]] * 2 + [[False] * 3]
