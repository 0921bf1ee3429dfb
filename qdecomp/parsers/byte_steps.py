"""The decoder of a parser that writes as two ONNX models with products of bytes: reading a question, and a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from qdecomp.parsers.byte_products import ZEROS, ByteMatrix, ByteModel
from qdecomp.parsers.layers import Array, Weights

__all__ = ["contexts_name", "keys_name", "reading_model", "step_model", "token_gates"]

# torch stacks the gates in this order: input, forget, cell, output.
_GATES = 4
_SIGMOIDS_FIRST = (0, 1, 3, 2)
_Number = TypeVar("_Number", bound=np.generic)


def keys_name(layer: int) -> str:
    """What both models call the keys of a layer's attention (hidden, words)."""
    return f"keys_{layer}"


def contexts_name(layer: int) -> str:
    """What both models call that which attention to each word adds to a layer's result (words, hidden)."""
    return f"contexts_{layer}"


@dataclass(frozen=True, slots=True)
class _Layer:
    """The matrices of an LSTM, of attention from its outputs to the question, and of a combination of both."""

    initial: ByteMatrix
    initial_bias: Array
    from_input: ByteMatrix
    from_output: ByteMatrix
    bias: Array
    keys: ByteMatrix
    joined_output: ByteMatrix
    joined_context: ByteMatrix
    joined_bias: Array

    @classmethod
    def of(cls, weights: Weights) -> _Layer:
        joined_bias = weights["joined.bias"]
        hidden = len(joined_bias)
        initial = weights.within("initial")
        return cls(
            ByteMatrix.of(initial),
            initial["bias"],
            _gates_of(ByteMatrix.of(weights, "lstm.weight_ih_l0")),
            _gates_of(ByteMatrix.of(weights, "lstm.weight_hh_l0")),
            _sigmoids_first(weights["lstm.bias_ih_l0"] + weights["lstm.bias_hh_l0"]),
            ByteMatrix.of(weights, "keys.weight").times(hidden**-0.5),
            ByteMatrix.of(weights, "joined.weight", slice(hidden)),
            ByteMatrix.of(weights, "joined.weight", slice(hidden, None)),
            joined_bias,
        )

    @property
    def hidden(self) -> int:
        """How many units the LSTM has."""
        return len(self.joined_bias)


def _layers(decoder: Weights) -> list[_Layer]:
    return [_Layer.of(weights) for weights in decoder.numbered("_layers")]


def _sigmoids_first(gates: npt.NDArray[_Number]) -> npt.NDArray[_Number]:
    """An array whose last axis is the gates of all units, with those of the hyperbolic tangents last."""
    parts = np.split(gates, _GATES, axis=-1)
    return np.concatenate([parts[number] for number in _SIGMOIDS_FIRST], axis=-1)


def _gates_of(matrix: ByteMatrix) -> ByteMatrix:
    return ByteMatrix(_sigmoids_first(matrix.values), _sigmoids_first(matrix.factors))


def token_gates(decoder: Weights) -> Array:
    """What reading each token adds to the gates of the first layer (tokens, gates), with their bias."""
    first = _layers(decoder)[0]
    numbers = first.from_input.values.astype(np.float32) * first.from_input.factors
    # In double precision, because the sums of single precision depend on the machine.
    gates = decoder["_embedding.weight"].astype(np.float64) @ numbers.astype(np.float64) + first.bias
    result: Array = gates.astype(np.float32)
    return result


def reading_model(decoder: Weights) -> bytes:
    """From the states of a question's words to what the steps look up.

    Inputs: ``words`` (words, size); ``shares`` (words, words), what the places of equal words have of each other's
    vectors. Results: the keys (hidden, words) and contexts (words, hidden) of each layer, the keys for copying (hidden,
    words), what reading each word adds to the first gates (words, gates), and the state before the first step.
    """
    model, layers = ByteModel(), _layers(decoder)
    words, shares = (model.input(name, np.float32, 2) for name in ("words", "shares"))
    model.input(ZEROS, np.uint8, 1)
    copy = decoder.within("_copy")
    # All products with the words are one; what it has for the layers, for copying and for reading are its parts.
    parts = [matrix for layer in layers for matrix in (layer.keys, layer.joined_context)]
    parts += [ByteMatrix.of(copy), ByteMatrix.of(decoder, "_word_embedding.weight")]
    sizes = [len(part.factors) for part in parts]
    # Attention sums to one, so the bias of what is joined can be added to what is attended to.
    biases = [bias for layer in layers for bias in (np.zeros(layer.hidden), layer.joined_bias)]
    bias = np.concatenate([*biases, copy["bias"], np.zeros(sizes[-1])])
    product = model.product(model.rounded_rows(words), ByteMatrix.joined(parts), bias)
    *looked_up, copied, vectors = model.split(product, sizes)
    results = [each if number % 2 else _turned(model, each) for number, each in enumerate(looked_up)]
    results.append(_turned(model, model.op("Tanh", copied)))
    results.append(model.product(model.rounded_rows(model.op("MatMul", shares, vectors)), layers[0].from_input))
    results.append(_first_state(model, words, layers))
    return model.model([(name, np.float32, 2) for name in results])


def _turned(model: ByteModel, rows: str) -> str:
    return model.op("Transpose", rows, perm=[1, 0])


def _first_state(model: ByteModel, words: str, layers: Sequence[_Layer]) -> str:
    """What the steps begin with (1, gates and cells), from the mean of the words."""
    initial = ByteMatrix.joined([layer.initial for layer in layers])
    bias = np.concatenate([layer.initial_bias for layer in layers])
    mean = model.rounded_rows(model.op("ReduceMean", words, axes=[0]), single=True)
    begun = model.op("Tanh", model.product(mean, initial, bias))
    outputs_and_cells = model.split(begun, [layer.hidden for layer in layers for _ in range(2)])
    parts = []
    for layer, output, cell in zip(layers, outputs_and_cells[::2], outputs_and_cells[1::2], strict=True):
        parts += [model.product(model.rounded_small(output), layer.from_output), cell]
    return model.op("Concat", *parts, axis=1)


def step_model(decoder: Weights, generate_bias: Array) -> bytes:
    """From the last tokens of hypotheses to the most probable next ones.

    Each hypothesis has a row. For what is looked up in a question, its hypotheses are the first of ``places``
    (questions, width), which has their rows; ``slots`` has the place of each row. Other inputs: ``state`` and, for
    each row, the ``parents`` whose state it has; ``gates``, what reading each token or word adds, and which are
    ``read``; what was read of the questions; ``padding`` (questions, 1, words), minus infinity for what is no word;
    ``targets`` (questions, words, tokens and words), 1 where a copied word is that token, and ``tokens`` (tokens and
    words), 1 for the tokens; ``allowed`` (questions, width, tokens and words), 0 for what must not follow; and how
    many tokens are wanted. Results: their logarithms and the tokens (questions, width, wanted), and the new state.
    """
    model, layers = ByteModel(), _layers(decoder)
    slots, places = model.input("slots", np.int64, 1), model.input("places", np.int64, 2)
    padding = model.input("padding", np.float32, 3)
    state = model.op("Gather", model.input("state", np.float32, 2), model.input("parents", np.int64, 1), axis=0)
    before = model.split(state, [size for layer in layers for size in (_GATES * layer.hidden, layer.hidden)])
    added = model.op("Gather", model.input("gates", np.float32, 2), model.input("read", np.int64, 1), axis=0)
    after = []
    for number, layer in enumerate(layers):
        gates = model.op("Add", before[2 * number], added)
        output, cell = _lstm(model, gates, before[2 * number + 1], layer.hidden)
        # Whatever follows, the next step needs the product of the output with the matrix of the gates.
        both = ByteMatrix.joined([layer.joined_output, layer.from_output])
        product = model.product(model.rounded_small(output), both)
        joined, next_gates = model.split(product, [layer.hidden, _GATES * layer.hidden])
        after += [next_gates, cell]
        keys = model.input(keys_name(number), np.float32, 3)
        scores = model.op("MatMul", model.op("Gather", output, places, axis=0), keys)
        attention = model.op("Softmax", model.op("Add", scores, padding), axis=-1)
        context = model.op("MatMul", attention, model.input(contexts_name(number), np.float32, 3))
        found = model.op("Tanh", model.op("Add", joined, _rows(model, context, layer.hidden, slots)))
        if number + 1 < len(layers):
            added = model.product(model.rounded_small(found), layers[number + 1].from_input, layers[number + 1].bias)
    matrix = ByteMatrix.of(decoder, "_generate.weight").padded(len(generate_bias))
    generated = model.product(model.rounded_small(found), matrix, generate_bias)
    probabilities = _probabilities(model, found, generated, places, padding, len(generate_bias))
    best, tokens = model.ops("TopK", probabilities, model.input("count", np.int64, 1), axis=-1, count=2)
    results = [(model.op("Log", best), np.float32, 3), (tokens, np.int64, 3)]
    return model.model([*results, (model.op("Concat", *after, axis=1), np.float32, 2)])


def _lstm(model: ByteModel, gates: str, cell: str, hidden: int) -> tuple[str, str]:
    """The next output and cell."""
    sigmoids, tangents = model.split(gates, [3 * hidden, hidden])
    used, kept, shown = model.split(model.op("Sigmoid", sigmoids), [hidden] * 3)
    new = model.op("Mul", used, model.op("Tanh", tangents))
    cell = model.op("Add", model.op("Mul", kept, cell), new)
    return model.op("Mul", shown, model.op("Tanh", cell)), cell


def _rows(model: ByteModel, table: str, size: int, slots: str) -> str:
    """The rows of the hypotheses in a table (questions, width, size)."""
    return model.op("Gather", model.op("Reshape", table, model.constant([-1, size], np.int64)), slots, axis=0)


def _probabilities(model: ByteModel, found: str, generated: str, places: str, padding: str, tokens: int) -> str:
    """Of all tokens, then of the words (questions, width, tokens and words), 0 for what is not allowed."""
    copy_keys = model.input("copy_keys", np.float32, 3)
    copied = model.op("Add", model.op("MatMul", model.op("Gather", found, places, axis=0), copy_keys), padding)
    scores = model.op("Concat", model.op("Gather", generated, places, axis=0), copied, axis=-1)
    probabilities = model.op("Softmax", scores, axis=-1)
    # The places of a word share its probability, also with generation where the tokens have the word.
    start, end, axis = (model.constant([place], np.int64) for place in (tokens, np.iinfo(np.int64).max, 2))
    of_words = model.op("Slice", probabilities, start, end, axis)
    shared = model.op("MatMul", of_words, model.input("targets", np.float32, 3))
    of_tokens = model.op("Mul", probabilities, model.input("tokens", np.float32, 1))
    return model.op("Mul", model.op("Add", shared, of_tokens), model.input("allowed", np.float32, 3))
