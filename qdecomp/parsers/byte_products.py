"""Products of whole numbers in ONNX models: the stored bytes of a matrix times rows that are rounded to bytes.

Sums of whole numbers are exact, so that no row's product depends on the rows beside it, on the order of the sums or on
the processor. Signed bytes of a matrix are the fastest, but processors without instructions for products of bytes add
two of them in 16 bits, which only seven bits of a row do not overflow. Seven are enough for the small numbers of an
LSTM. The states of an encoder have eight, and their matrices unsigned bytes, which are added in 32 bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from qdecomp.data_structures.errors import missing_extra
from qdecomp.parsers.layers import Weights
from qdecomp.parsers.onnx_model import MICROSOFT, ModelWriter
from qdecomp.parsers.weights import Array, ByteRows, to_bytes

__all__ = ["ZEROS", "ByteMatrix", "ByteModel", "Rounded", "start_session", "zeros_of"]

# A row's bytes are from the zero minus the largest to the zero plus the largest.
_ROW_LARGEST, _ROW_ZERO = 127, 128
_SMALL_LARGEST, _SMALL_ZERO = 63, 64
_UNSIGNED_ZERO = 128

ZEROS = "zeros"
"""The input of a model that rounds rows: what stands for 0 in each, see :func:`zeros_of`."""


@dataclass(frozen=True, slots=True)
class ByteMatrix:
    """A matrix (inputs, outputs) as bytes, with a factor for each output."""

    values: npt.NDArray[np.int8]
    factors: Array

    @classmethod
    def of(cls, weights: Weights, name: str = "weight", columns: slice = slice(None)) -> ByteMatrix:
        """That of a layer; ``columns`` are those of the inputs."""
        rows = weights.rows(name)
        found = rows if isinstance(rows, ByteRows) else to_bytes(rows)
        return cls(np.ascontiguousarray(found.values[:, columns].T), found.factors)

    @classmethod
    def joined(cls, matrices: Sequence[ByteMatrix]) -> ByteMatrix:
        """Matrices with the same inputs as one, their outputs side by side."""
        return cls(
            np.concatenate([each.values for each in matrices], axis=1),
            np.concatenate([each.factors for each in matrices]),
        )

    def padded(self, outputs: int) -> ByteMatrix:
        """The matrix with more outputs, which are zero."""
        missing = outputs - len(self.factors)
        return ByteMatrix(
            np.pad(self.values, ((0, 0), (0, missing))), np.pad(self.factors, (0, missing), constant_values=1)
        )

    def times(self, factor: float) -> ByteMatrix:
        """All numbers times one."""
        return ByteMatrix(self.values, self.factors * np.float32(factor))


@dataclass(frozen=True, slots=True)
class Rounded:
    """Rows as bytes, and the size of a step: that of each row, or one for all."""

    values: str
    step: str
    by_row: bool


class ByteModel(ModelWriter):
    """A model with products of bytes."""

    def __init__(self) -> None:
        super().__init__()
        self._one = self.constant(1.0)
        self._row_step, self._small_step = (self.constant(1 / each) for each in (_ROW_LARGEST, _SMALL_LARGEST))
        zeros = (_ROW_ZERO, _SMALL_ZERO, _UNSIGNED_ZERO)
        self._row_zero, self._small_zero, self._unsigned_zero = (self.constant(each, np.uint8) for each in zeros)

    def rounded_rows(self, rows: str, *, single: bool = False) -> Rounded:
        """Each row, or the ``single`` one, with steps of a size that its largest number determines.

        A row of zeros has steps of no size, so that its product is zero whatever its bytes are.
        """
        largest = self.op("ReduceMax", self.op("Abs", rows), axes=[1], keepdims=0)
        steps = self.op("Mul", largest, self._row_step)
        zeros = self.constant(zeros_of(1), np.uint8) if single else ZEROS
        values = self.op("QuantizeLinear", rows, steps, zeros, axis=0)
        return Rounded(values, self.op("Unsqueeze", steps, self.constant([1], np.int64)), True)

    def rounded_small(self, rows: str) -> Rounded:
        """Rows of numbers from -1 to 1, all with steps of one size."""
        return Rounded(self.op("QuantizeLinear", rows, self._small_step, self._small_zero), self._small_step, False)

    def product(self, rows: Rounded, matrix: ByteMatrix, bias: Array | None = None) -> str:
        """The product of rows with a matrix, and the bias."""
        factors = self.constant(matrix.factors)
        if not rows.by_row:
            values = self.constant(matrix.values, np.int8)
            added = [] if bias is None else ["", self.constant(bias)]
            return self._whole(rows.values, values, rows.step, factors, self._small_zero, *added)
        values = self.constant(matrix.values.astype(np.int16) + _UNSIGNED_ZERO, np.uint8)
        result = self._whole(rows.values, values, self._one, factors, self._row_zero, self._unsigned_zero)
        result = self.op("Mul", result, rows.step)
        return result if bias is None else self.op("Add", result, self.constant(bias))

    def split(self, rows: str, sizes: Sequence[int], axis: int = -1) -> list[str]:
        """Parts of these sizes."""
        return self.ops("Split", rows, self.constant(sizes, np.int64), axis=axis, count=len(sizes))

    def _whole(self, *inputs: str) -> str:
        return self.op("MatMulIntegerToFloat", *inputs, domain=MICROSOFT)


def zeros_of(rows: int) -> npt.NDArray[np.uint8]:
    """The bytes that stand for 0 in so many rows."""
    return np.full(rows, _ROW_ZERO, dtype=np.uint8)


def start_session(model: bytes) -> Any:
    """A session of ``onnxruntime`` that runs a model in the thread that asks."""
    try:
        import onnxruntime
    except ImportError:
        raise missing_extra("the backend onnxruntime", "fast") from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # The models need no more than this: to be joined to "SkipLayerNormalization", for one, makes layers slower.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
