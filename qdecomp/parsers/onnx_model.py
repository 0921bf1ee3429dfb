"""Writes ONNX models: a graph of operations on arrays, as the bytes that ``onnxruntime`` reads.

A model is a protocol buffer of few kinds of messages, so it is written here without the package ``onnx``. The numbers
of the fields are those of ``onnx.proto``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["MICROSOFT", "ModelWriter"]

MICROSOFT = "com.microsoft"
"""The domain of the operations that ``onnxruntime`` adds to the standard."""

_FORMAT = 8
_OPERATIONS = {"": 17, MICROSOFT: 1}
_TYPES = {np.dtype(np.float32): 1, np.dtype(np.uint8): 2, np.dtype(np.int8): 3, np.dtype(np.int64): 7}
_FLOAT, _INT, _INTS = 1, 2, 7
_VARINT, _BYTES, _FIXED32 = 0, 2, 5

Attribute = float | int | Sequence[int]


class ModelWriter:
    """Collects inputs, constants and operations; every method gives the name of a new array."""

    def __init__(self) -> None:
        self._inputs: list[bytes] = []
        self._constants: list[bytes] = []
        self._nodes: list[bytes] = []
        self._count = 0

    def input(self, name: str, dtype: npt.DTypeLike, rank: int) -> str:
        """An array that is given when the model runs."""
        self._inputs.append(_array_type(name, dtype, rank))
        return name

    def constant(self, value: npt.ArrayLike, dtype: npt.DTypeLike = np.float32) -> str:
        """An array that is part of the model."""
        array: npt.NDArray[Any] = np.asarray(value, dtype=dtype)
        name = self._new_name()
        dims = b"".join(_number(1, size) for size in array.shape)
        self._constants.append(dims + _number(2, _TYPES[array.dtype]) + _text(8, name) + _bytes(9, array.tobytes()))
        return name

    def op(self, kind: str, *inputs: str, domain: str = "", **attributes: Attribute) -> str:
        """The one result of an operation; an input that is left out has no name."""
        (result,) = self.ops(kind, *inputs, domain=domain, count=1, **attributes)
        return result

    def ops(self, kind: str, *inputs: str, domain: str = "", count: int, **attributes: Attribute) -> list[str]:
        """All results of an operation."""
        results = [self._new_name() for _ in range(count)]
        self._nodes.append(
            b"".join(_text(1, name) for name in inputs)
            + b"".join(_text(2, name) for name in results)
            + _text(4, kind)
            + b"".join(_bytes(5, _attribute(name, value)) for name, value in attributes.items())
            + _text(7, domain)
        )
        return results

    def model(self, results: Iterable[tuple[str, npt.DTypeLike, int]]) -> bytes:
        """The model that computes these arrays, each with its type and number of dimensions."""
        outputs = [_array_type(*each) for each in results]
        parts = ((1, self._nodes), (5, self._constants), (11, self._inputs), (12, outputs))
        graph = _text(2, "graph") + b"".join(_bytes(field, part) for field, listed in parts for part in listed)
        versions = (_text(1, domain) + _number(2, version) for domain, version in _OPERATIONS.items())
        return _number(1, _FORMAT) + _bytes(7, graph) + b"".join(_bytes(8, each) for each in versions)

    def _new_name(self) -> str:
        self._count += 1
        return f"a{self._count}"


def _array_type(name: str, dtype: npt.DTypeLike, rank: int) -> bytes:
    # Dimensions without a size may have any.
    shape = b"".join(_bytes(1, b"") for _ in range(rank))
    return _text(1, name) + _bytes(2, _bytes(1, _number(1, _TYPES[np.dtype(dtype)]) + _bytes(2, shape)))


def _attribute(name: str, value: Attribute) -> bytes:
    if isinstance(value, float):
        return _text(1, name) + _key(2, _FIXED32) + struct.pack("<f", value) + _number(20, _FLOAT)
    if isinstance(value, int):
        return _text(1, name) + _number(3, value) + _number(20, _INT)
    return _text(1, name) + b"".join(_number(8, each) for each in value) + _number(20, _INTS)


def _key(field: int, kind: int) -> bytes:
    return _varint(field << 3 | kind)


def _number(field: int, value: int) -> bytes:
    # A negative number is written as what is equal to it modulo 2 to the 64.
    return _key(field, _VARINT) + _varint(value % (1 << 64))


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())


def _bytes(field: int, value: bytes) -> bytes:
    return _key(field, _BYTES) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first; all but the last byte have their highest bit set."""
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)
