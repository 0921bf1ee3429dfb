"""Products in blocks."""

from __future__ import annotations

import numpy as np
import pytest

from qdecomp.parsers import products
from qdecomp.parsers.products import BlockMatrix

# The shapes of the bundled parser's networks, and some that fit no block.
SHAPES = [(384, 1536), (1536, 384), (384, 192), (24, 50), (5, 1)]


def _numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).normal(0, 1, shape).astype(np.float32)


@pytest.mark.parametrize("shape", SHAPES)
def test_products_are_those_of_the_matrix(shape):
    rows, matrix = _numbers(19, shape[0]), _numbers(*shape)
    blocks = BlockMatrix.of(matrix)
    np.testing.assert_allclose(blocks.product(rows), rows @ matrix, atol=1e-3)
    assert blocks.product(rows[:0]).shape == (0, shape[1])
    assert blocks.product(rows[:18].reshape(3, 6, -1)).shape == (3, 6, shape[1])
    of_each = blocks.product_of_each(rows[:18].reshape(3, 6, -1))
    np.testing.assert_allclose(of_each.reshape(18, -1), rows[:18] @ matrix, atol=1e-3)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("larger_blocks", [True, False])
def test_a_row_has_the_same_product_wherever_it_stands(shape, larger_blocks, monkeypatch):
    """Also where larger blocks have other digits than small ones, so that they cannot be used."""
    if not larger_blocks:
        monkeypatch.setattr(products, "_same_digits", lambda inputs, columns: False)
    rows, matrix = _numbers(40, shape[0]), BlockMatrix.of(_numbers(*shape))
    together = matrix.product(rows)
    for start in range(9):
        for end in (start + 1, start + 3, start + 4, start + 8, start + 13, len(rows)):
            assert np.array_equal(matrix.product(rows[start:end]), together[start:end])


@pytest.mark.parametrize("count", [1, 4, 5, 8, 11])
def test_only_the_first_rows_are_asked_for(count):
    rows, matrix = _numbers(12, 24), BlockMatrix.of(_numbers(24, 50))
    found = matrix.product_of_first(rows, count)
    assert found.shape == (12, 50)
    assert np.array_equal(found[:count], matrix.product(rows[:count]))
    assert np.isfinite(found).all()
    assert np.array_equal(matrix.product(rows[:count]), matrix.product(rows)[:count])


@pytest.mark.parametrize("shape", SHAPES)
def test_a_matrix_has_the_same_product_whatever_stands_beside_it(shape):
    rows, matrix = _numbers(60, shape[0]).reshape(5, 12, -1), BlockMatrix.of(_numbers(*shape))
    together = matrix.product_of_each(rows)
    for start in range(5):
        assert np.array_equal(matrix.product_of_each(rows[start : start + 2]), together[start : start + 2])
