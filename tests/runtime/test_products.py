"""Products in blocks."""

from __future__ import annotations

import numpy as np
import pytest

from qdecomp.runtime.products import BlockMatrix

# The shapes of the bundled parser's networks, and some that fit no block.
SHAPES = [(384, 1536), (1536, 384), (384, 192), (24, 50), (5, 1)]


def _numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).normal(0, 1, shape).astype(np.float32)


@pytest.mark.parametrize("shape", SHAPES)
def test_products_are_those_of_the_matrix(shape):
    rows, matrix = _numbers(19, shape[0]), _numbers(*shape)
    for block in (4, 8):
        np.testing.assert_allclose(BlockMatrix.of(matrix).product(rows, block), rows @ matrix, atol=1e-3)
    assert BlockMatrix.of(matrix).product(rows[:0]).shape == (0, shape[1])
    assert BlockMatrix.of(matrix).product(rows[:18].reshape(3, 6, -1)).shape == (3, 6, shape[1])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("block", [4, 8])
def test_a_row_has_the_same_product_wherever_it_stands(shape, block):
    rows, matrix = _numbers(40, shape[0]), BlockMatrix.of(_numbers(*shape))
    together = matrix.product(rows, block)
    for start in range(block + 1):
        for end in (start + 1, start + 3, start + block, len(rows)):
            assert np.array_equal(matrix.product(rows[start:end], block), together[start:end])
