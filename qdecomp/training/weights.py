"""The weights of a bundle in a safetensors file: int8 rows with a scale each, the rest in half precision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from qdecomp.data_structures.errors import DataError, missing_extra
from qdecomp.parsers.bundle import WEIGHTS, read_config

Array = npt.NDArray[np.float32]

_FACTORS = ".factors"
_LARGEST = 127
_NUMBERS = (np.dtype(np.float16), np.dtype(np.float32))


@dataclass(frozen=True, slots=True)
class Int8Rows:
    """A matrix as int8 with a scale for each row."""

    values: npt.NDArray[np.int8]
    factors: Array


def quantised(matrix: Array) -> Int8Rows:
    """Round each row to 255 steps between its largest value and its opposite."""
    factors = np.abs(matrix).max(axis=1) / _LARGEST
    factors = np.where(factors > 0, factors, 1).astype(np.float32)
    return Int8Rows(np.rint(matrix / factors[:, None]).astype(np.int8), factors)


def dequantised(rows: Int8Rows) -> Array:
    """Undo :func:`quantised`, to within half a step."""
    found: Array = rows.values.astype(np.float32) * rows.factors[:, None]
    return found


def write_weights(path: Path, weights: Mapping[str, Array | Int8Rows]) -> None:
    """Write a file that :func:`read_weights` reads."""
    from safetensors.numpy import save_file

    arrays: dict[str, npt.NDArray[Any]] = {}
    for name, value in weights.items():
        if isinstance(value, Int8Rows):
            arrays[name], arrays[name + _FACTORS] = value.values, value.factors
        else:
            arrays[name] = value.astype(np.float16)
    save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, path)
    path.chmod(0o644)


def read_weights(path: Path) -> dict[str, Array | Int8Rows]:
    """Read what :func:`write_weights` wrote."""
    try:
        from safetensors import SafetensorError
        from safetensors.numpy import load_file
    except ImportError:
        raise missing_extra("starting from a bundle", "bundle") from None
    try:
        arrays = load_file(path)
    # Besides its own errors, the library lets through those about types and sizes that NumPy does not support.
    except (OSError, SafetensorError, ValueError, KeyError, TypeError, AttributeError, MemoryError) as error:
        raise DataError(f"{path}: the weights cannot be read ({' '.join(str(error).split())})") from None
    weights: dict[str, Array | Int8Rows] = {}
    for name, array in arrays.items():
        if name.endswith(_FACTORS) and name.removesuffix(_FACTORS) in arrays:
            continue
        factors = arrays.get(name + _FACTORS)
        if wrong := _what_is_wrong(array, factors):
            raise DataError(f"{path}: {name}: {wrong}")
        weights[name] = array.astype(np.float32) if factors is None else Int8Rows(array, factors)
    return weights


def _what_is_wrong(array: npt.NDArray[Any], factors: npt.NDArray[Any] | None) -> str | None:
    """Why an array cannot be weights: int8 has factors, one for each row, and everything else is floats."""
    if factors is None:
        return None if array.dtype in _NUMBERS else f"numbers of the type {array.dtype}, without factors"
    if array.dtype != np.int8 or array.ndim != 2:
        return f"factors for numbers of the type {array.dtype} in {array.ndim} dimensions; they are for rows of int8"
    if factors.dtype not in _NUMBERS or factors.shape != array.shape[:1]:
        return f"factors of the shape {factors.shape} and type {factors.dtype} for {len(array)} rows"
    return None


def read_numbers(folder: Path) -> dict[str, Array]:
    """The weights of a bundle as floats."""
    read_config(folder)
    weights = read_weights(folder / WEIGHTS)
    return {name: dequantised(value) if isinstance(value, Int8Rows) else value for name, value in weights.items()}
