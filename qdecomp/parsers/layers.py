"""The layers of the networks in NumPy.

A batch has no padding: the states of all questions are stacked in one matrix, and *spans* say which rows belong to
which question. So most of the work is a few large products, and a question's answer does not depend on what else is in
the batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from qdecomp.data_structures.errors import DataError
from qdecomp.parsers.products import BlockMatrix
from qdecomp.parsers.weights import Array, ByteRows, from_bytes

__all__ = [
    "Array",
    "FeedForward",
    "LayerNorm",
    "Linear",
    "Weights",
    "attend",
    "elu",
    "gelu",
    "sigmoid",
    "softmax",
]

_LARGEST_EXPONENT = 80.0
_ERF_SCALE = 0.3275911
# From the highest power to the lowest.
_ERF_COEFFICIENTS = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)


class Weights:
    """Arrays by name; :meth:`within` removes the first part of the names."""

    def __init__(self, arrays: Mapping[str, Array | ByteRows], prefix: str = "") -> None:
        self._arrays = arrays
        self._prefix = prefix

    def __getitem__(self, name: str) -> Array:
        rows = self.rows(name)
        return from_bytes(rows) if isinstance(rows, ByteRows) else rows

    def rows(self, name: str) -> Array | ByteRows:
        """The array of that name as it is stored; both kinds have rows."""
        try:
            return self._arrays[self._prefix + name]
        except KeyError:
            raise DataError(f"the weights have no {self._prefix + name}") from None

    def within(self, name: str) -> Weights:
        """The weights whose names begin with this."""
        return Weights(self._arrays, f"{self._prefix}{name}.")

    def numbered(self, name: str) -> list[Weights]:
        """Those of the parts ``name.0``, ``name.1`` and so on."""
        start = f"{self._prefix}{name}."
        numbers = {int(rest) for each in self._arrays if each.startswith(start) and (rest := _first(each, start))}
        return [self.within(f"{name}.{number}") for number in sorted(numbers)]


def _first(name: str, start: str) -> str:
    part = name[len(start) :].partition(".")[0]
    return part if part.isdecimal() else ""


@dataclass(frozen=True, slots=True)
class Linear:
    """A product with a matrix (inputs, outputs), and a bias."""

    matrix: BlockMatrix
    bias: Array

    @classmethod
    def of(cls, *weights: Weights) -> Linear:
        """The layer with these weights; several layers with the same inputs are one, their outputs side by side."""
        return cls.of_torch(
            np.concatenate([each["weight"] for each in weights]), np.concatenate([each["bias"] for each in weights])
        )

    @classmethod
    def of_torch(cls, weight: Array, bias: Array) -> Linear:
        """The layer with a weight (outputs, inputs)."""
        return cls(BlockMatrix.of(weight.T), bias)

    def __call__(self, states: Array) -> Array:
        """Apply it to rows."""
        result = self.matrix.product(states)
        result += self.bias
        return result

    def of_each(self, states: Array) -> Array:
        """Apply it to matrices of rows (matrices, rows, inputs), each as one product."""
        result = self.matrix.product_of_each(states)
        result += self.bias
        return result


@dataclass(frozen=True, slots=True)
class LayerNorm:
    """Rows shifted and scaled to mean 0 and variance 1, then by learned factors."""

    weight: Array
    bias: Array
    epsilon: float

    @classmethod
    def of(cls, weights: Weights, epsilon: float = 1e-5) -> LayerNorm:
        """The layer with these weights."""
        return cls(weights["weight"], weights["bias"], epsilon)

    def __call__(self, states: Array) -> Array:
        """Apply it to rows."""
        centred: Array = states - states.mean(axis=-1, keepdims=True)
        variance = np.einsum("...d,...d->...", centred, centred)[..., None] / states.shape[-1]
        variance += np.float32(self.epsilon)
        centred /= np.sqrt(variance, out=variance)
        centred *= self.weight
        centred += self.bias
        return centred


@dataclass(frozen=True, slots=True)
class FeedForward:
    """Layers with an ELU after each."""

    layers: tuple[Linear, ...]

    @classmethod
    def of(cls, weights: Weights) -> FeedForward:
        """The layers with these weights."""
        return cls(tuple(Linear.of(layer) for layer in weights.numbered("_linear_layers")))

    def __call__(self, states: Array) -> Array:
        """Apply it to rows."""
        for layer in self.layers:
            states = elu(layer(states))
        return states


def attend(
    queries: Array,
    keys: Array,
    values: Array,
    heads: int,
    query_spans: Sequence[slice],
    key_spans: Sequence[slice],
) -> Array:
    """Attention of each question's queries to its own keys, in parts of the vectors called heads."""
    size = queries.shape[-1] // heads
    found = np.empty_like(queries)
    scaled = queries * np.float32(size**-0.5)
    for asking, asked in zip(query_spans, key_spans, strict=True):
        # Shapes: (heads, queries, size), (heads, size, keys), (heads, keys, size)
        query = scaled[asking].reshape(-1, heads, size).transpose(1, 0, 2)
        key = keys[asked].reshape(-1, heads, size).transpose(1, 2, 0)
        value = values[asked].reshape(-1, heads, size).transpose(1, 0, 2)
        mixed = softmax(np.matmul(query, key)) @ value
        found[asking] = mixed.transpose(1, 0, 2).reshape(-1, heads * size)
    return found


def softmax(scores: Array) -> Array:
    """Scores to probabilities, along the last axis, in their place."""
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    return scores


def sigmoid(scores: Array) -> Array:
    """Scores to probabilities, element by element."""
    result: Array = np.exp(-np.clip(scores, -_LARGEST_EXPONENT, _LARGEST_EXPONENT))
    result += np.float32(1)
    return np.reciprocal(result, out=result)


def gelu(states: Array) -> Array:
    """Gaussian error linear units, as in BERT: x times the probability of a normal number below x.

    The error function is Abramowitz and Stegun's 7.1.26, which is accurate to seven digits, as are our numbers, and
    takes a quarter of the time of ``scipy``'s.
    """
    size = np.abs(states)
    scale = size * np.float32(_ERF_SCALE * 0.5**0.5)
    scale += np.float32(1)
    np.reciprocal(scale, out=scale)
    # Half of the error function's tail: the probability below zero, and what is missing to one above.
    tail = scale * np.float32(0.5 * _ERF_COEFFICIENTS[0])
    for coefficient in _ERF_COEFFICIENTS[1:]:
        tail += np.float32(0.5 * coefficient)
        tail *= scale
    tail *= size
    size *= size
    size *= np.float32(-0.5)
    tail *= np.exp(size, out=size)
    result: Array = np.maximum(states, 0, out=size)
    result -= tail
    return result


def elu(states: Array) -> Array:
    """Exponential linear units."""
    negative = np.exp(np.minimum(states, 0))
    negative -= np.float32(1)
    return np.where(states > 0, states, negative)
