"""Products of rows with a matrix in blocks of one shape.

The libraries behind NumPy choose the order of their sums by the shape of a product, so the last digits of a question's
scores would depend on its neighbours in a batch. With blocks of one shape they do not, and small blocks are also the
fastest: their part of the matrix stays in the processor's cache, and is not first copied into another order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .weights import Array

__all__ = ["BlockMatrix"]

_COLUMNS = 64
# Products of this many rows with 64 columns are the fastest for hundreds of rows, and nearly so for a few.
_ROWS = 8


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
        padded = np.zeros((inputs, -(-outputs // _COLUMNS) * _COLUMNS), dtype=np.float32)
        padded[:, :outputs] = matrix
        return cls(np.ascontiguousarray(padded.reshape(inputs, -1, _COLUMNS).transpose(1, 0, 2)), outputs)

    def product(self, states: Array, block: int = _ROWS) -> Array:
        """The product of rows with the matrix, in blocks of this many rows.

        No row's result depends on how many there are, or on the others.
        """
        rows = states.reshape(-1, states.shape[-1])
        count = len(rows)
        full = count - count % block
        result = np.empty((count, len(self.blocks) * _COLUMNS), dtype=np.float32)
        if full:
            self._fill(rows[:full], result[:full], block)
        if full < count:
            # The last rows form a whole block, too.
            last = np.zeros((block, rows.shape[1]), dtype=np.float32)
            last[: count - full] = rows[full:]
            found = np.empty((block, result.shape[1]), dtype=np.float32)
            self._fill(last, found, block)
            result[full:] = found[: count - full]
        return result[:, : self.outputs].reshape(*states.shape[:-1], self.outputs)

    def _fill(self, rows: Array, result: Array, block: int) -> None:
        # Blocks of columns outside, blocks of rows inside.
        np.matmul(
            rows.reshape(1, -1, block, rows.shape[1]),
            self.blocks[:, None],
            out=result.reshape(-1, block, len(self.blocks), _COLUMNS).transpose(2, 0, 1, 3),
        )
