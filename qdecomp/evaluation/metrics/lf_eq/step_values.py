"""What a step can be: things, a number, a truth value, a number for each thing, or several of these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from qdecomp.evaluation.metrics.lf_eq.worlds import AnyArray, Bits

__all__ = ["Many", "Number", "NumberOfEach", "Things", "Truth", "Value", "fingerprints"]


@dataclass(frozen=True, slots=True)
class Things:
    """A set of things.

    ``described`` says that words alone define it. ``number`` is the value of an extreme ("the highest of #1"),
    ``order`` represents how they were sorted.
    """

    bits: Bits
    described: bool = False
    number: AnyArray | None = None
    order: AnyArray | None = None


@dataclass(frozen=True, slots=True)
class Number:
    """A number; NaN if it is undefined."""

    numbers: AnyArray


@dataclass(frozen=True, slots=True)
class Truth:
    """Yes or no."""

    truths: AnyArray


@dataclass(frozen=True, slots=True)
class NumberOfEach:
    """A number for each thing (worlds, things), of which ``keys`` are meant."""

    keys: Bits
    numbers: AnyArray


@dataclass(frozen=True, slots=True)
class Many:
    """Values, at least one of which is not a set: a list whose order means nothing."""

    parts: tuple[Things | Number | Truth | NumberOfEach, ...]


Value: TypeAlias = Things | Number | Truth | NumberOfEach | Many

_DIGITS = 6
_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


def mix(left: AnyArray, right: AnyArray) -> AnyArray:
    """For each world, a number that hardly any other pair of numbers gives."""
    with np.errstate(over="ignore"):
        mixed = (left.astype(np.uint64) ^ (right.astype(np.uint64) * _MIX)) * _MIX
    return mixed ^ (mixed >> _SHIFT)


def fingerprints(value: Value) -> AnyArray:
    """A number for each world (and focused thing) that equal values share and different ones hardly ever do."""
    match value:
        case Things(bits, _, _, order):
            found = mix(bits, np.array(1))
            return found if order is None else mix(found, order)
        case Number(numbers):
            return mix(_rounded(numbers), np.array(2))
        case Truth(truths):
            return mix(truths, np.array(3))
        case NumberOfEach(keys, numbers):
            meant = (keys[:, :1, None] >> np.arange(numbers.shape[1], dtype=np.uint8) & 1)[:, 0].astype(bool)
            found = mix(keys, np.array(4))
            for place in range(numbers.shape[1]):
                column = np.where(meant[:, place], _rounded(numbers[:, place]), 0)
                found = mix(found, column[:, None])
            return found
        case Many(parts):
            each = np.broadcast_arrays(*(fingerprints(part) for part in parts))
            in_order = np.sort(np.stack(each), axis=0)
            found = np.zeros_like(in_order[0])
            for row in in_order:
                found = mix(found, row)
            return found


def _rounded(numbers: AnyArray) -> AnyArray:
    """Numbers as integers that ignore rounding errors."""
    finite = np.nan_to_num(np.round(numbers, _DIGITS) * 10**_DIGITS, nan=7e17, posinf=8e17, neginf=9e17)
    return np.asarray(finite, dtype=np.int64)
