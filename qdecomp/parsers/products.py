"""Products of rows with a matrix in blocks of one shape.

The libraries behind NumPy choose the order of their sums by the shape of a product, so that the last digits of a
question's scores would depend on its neighbours in a batch. Blocks that always have the same shape do not, nor do
products of one question's rows. Blocks of few columns are also the fastest: their part of the matrix stays in the
processor's cache.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from qdecomp.parsers.weights import Array

__all__ = ["BlockMatrix", "padded"]

_COLUMNS = 64
# The rows of a block: few for the hypotheses of one question, more where there are more rows, which is faster.
_SMALL = 4
_LARGE = 8


@dataclass(frozen=True, slots=True)
class BlockMatrix:
    """A matrix (inputs, outputs), cut into blocks of columns that are stored one after another."""

    blocks: Array
    """(blocks, inputs, columns); the last one is padded with zeros."""
    outputs: int

    @classmethod
    def of(cls, matrix: Array) -> BlockMatrix:
        """Cut a matrix (inputs, outputs)."""
        inputs, outputs = matrix.shape
        whole = np.zeros((inputs, padded(outputs, _COLUMNS)), dtype=np.float32)
        whole[:, :outputs] = matrix
        return cls(np.ascontiguousarray(whole.reshape(inputs, -1, _COLUMNS).transpose(1, 0, 2)), outputs)

    def product(self, states: Array) -> Array:
        """The product of rows with the matrix, in blocks of rows.

        No row's result depends on how many there are, or on the others.
        """
        rows = states.reshape(-1, states.shape[-1])
        count = len(rows)
        needed = padded(count, _SMALL)
        if needed > count:
            # The last rows are a whole block, too.
            rows = np.concatenate([rows, np.zeros((needed - count, rows.shape[1]), dtype=np.float32)])
        return self.product_of_first(rows, count)[:count].reshape(*states.shape[:-1], self.outputs)

    def product_of_first(self, rows: Array, count: int) -> Array:
        """The same for the first of so many rows that they are whole blocks; zeros, or what they give, for others."""
        needed = padded(count, _SMALL)
        shape = (len(rows), len(self.blocks) * _COLUMNS)
        result: Array = (np.empty if needed == len(rows) else np.zeros)(shape, dtype=np.float32)
        in_large = needed - needed % _LARGE if needed > _SMALL and _same_digits(*self.blocks.shape[1:]) else 0
        if in_large:
            self._fill(rows[:in_large], result[:in_large], _LARGE)
        if in_large < needed:
            self._fill(rows[in_large:needed], result[in_large:needed], _SMALL)
        return result[:, : self.outputs]

    def product_of_each(self, states: Array) -> Array:
        """The products of matrices of rows (matrices, rows, inputs), each of them as one block.

        The last digits of a row's result depend on how many rows its matrix has.
        """
        count, rows, inputs = states.shape
        result = np.empty((count * rows, len(self.blocks) * _COLUMNS), dtype=np.float32)
        self._fill(states.reshape(-1, inputs), result, rows)
        return result[:, : self.outputs].reshape(count, rows, self.outputs)

    def _fill(self, rows: Array, result: Array, block: int) -> None:
        # Blocks of columns outside, blocks of rows inside: so the columns are read from the cache.
        np.matmul(
            rows.reshape(-1, block, rows.shape[1]),
            self.blocks[:, None],
            out=result.reshape(-1, block, len(self.blocks), _COLUMNS).transpose(2, 0, 1, 3),
        )


@cache
def _same_digits(inputs: int, columns: int) -> bool:
    """Whether large blocks have the digits of small ones on this machine, wherever in the block a row stands.

    Which order of sums a shape has does not depend on the numbers. Other orders would show in some of so many sums.
    """
    numbers = np.random.default_rng(0)
    row, matrix = (numbers.standard_normal(shape, dtype=np.float32) for shape in ((1, inputs), (inputs, columns)))
    large, small = (np.matmul(np.repeat(row, rows, axis=0), matrix) for rows in (_LARGE, _SMALL))
    return bool((large == small[0]).all() and (small == small[0]).all())


def padded(length: int, stride: int) -> int:
    """The next multiple of the stride."""
    return -(-length // stride) * stride
