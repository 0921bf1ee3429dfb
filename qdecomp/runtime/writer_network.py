"""The networks of a parser that writes, in NumPy: from pieces to the probabilities of the next token.

The same as :mod:`qdecomp.models.copynet_bert` with :mod:`qdecomp.modules.copy_decoder`. A step of the search is many
small products, so everything that does not change between steps is worked out before: keys, and what attention to
each word adds to a layer's result. Matrices are cut into blocks of columns, which a product of a few rows takes
several times faster than a whole one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from qdecomp.decoding.plan_rules import TokenIds

from .encoder import Encoder, rows_of
from .layers import Array, Linear, Weights
from .word_pieces import PieceIds

__all__ = ["WriterNetwork", "WriterState"]


# torch has the gates in this order, one below the other: input, forget, cell, output.
_GATES = 4
_SIGMOIDS_FIRST = (0, 1, 3, 2)


@dataclass(frozen=True, slots=True)
class _Layer:
    """An LSTM, attention from its outputs to the question, and both joined."""

    initial: Linear
    from_input: Array  # (gates, inputs, hidden)
    from_output: Array  # (gates, hidden, hidden)
    bias: Array  # (gates, 1, hidden)
    keys: Array  # (encoder, hidden)
    joined_output: Array  # (hidden, hidden)
    joined_context: Linear

    @classmethod
    def of(cls, weights: Weights) -> _Layer:
        joined = weights["joined.weight"]
        hidden = len(joined)
        scale = np.float32(hidden**-0.5)
        bias = weights["lstm.bias_ih_l0"] + weights["lstm.bias_hh_l0"]
        return cls(
            Linear.of(weights.within("initial")),
            _gates(weights["lstm.weight_ih_l0"]),
            _gates(weights["lstm.weight_hh_l0"]),
            _gates(bias[:, None]),
            np.ascontiguousarray(weights["keys.weight"].T * scale),
            np.ascontiguousarray(joined[:, :hidden].T),
            # Attention sums to one, so the bias may be added to what is attended to.
            Linear.of_torch(joined[:, hidden:], weights["joined.bias"]),
        )

    def step(self, inputs: Array, output: Array, cell: Array) -> tuple[Array, Array]:
        """The LSTM's next output and cell for rows."""
        gates = np.matmul(inputs, self.from_input)
        gates += np.matmul(output, self.from_output)
        gates += self.bias
        np.tanh(gates, out=gates)
        # Half of the hyperbolic tangent of half of a number, and a half, is its sigmoid.
        gates[:3] *= np.float32(0.5)
        gates[:3] += np.float32(0.5)
        cell = gates[1] * cell
        cell += gates[0] * gates[3]
        output = np.tanh(cell)
        output *= gates[2]
        return output, cell


def _gates(weight: Array) -> Array:
    """A matrix (gates of all units, inputs) as (gates, inputs, units), those of the sigmoids halved and first."""
    blocks = weight.reshape(_GATES, -1, weight.shape[1])[list(_SIGMOIDS_FIRST)].transpose(0, 2, 1).copy()
    blocks[:3] *= np.float32(0.5)
    return blocks


@dataclass(frozen=True, slots=True)
class _Memory:
    """Encoded questions, padded to the longest of them, prepared for the decoder."""

    padding: Array  # (questions, 1, words), 0 for words, minus infinity for what is none
    keys: tuple[Array, ...]  # for each layer (questions, hidden, words)
    contexts: tuple[Array, ...]  # for each layer (questions, words, hidden)
    copy_keys: Array  # (questions, hidden, words)
    first_ids: TokenIds  # (questions, words), the id of a word where the question has it first, below 0 elsewhere
    inputs: Array  # (questions, words, embedding), what is read of a word that was written
    to_first: Array  # (questions, words, words), 1 from each word to where the question has it first

    def select(self, questions: TokenIds) -> _Memory:
        return _Memory(
            self.padding[questions],
            tuple(keys[questions] for keys in self.keys),
            tuple(contexts[questions] for contexts in self.contexts),
            self.copy_keys[questions],
            self.first_ids[questions],
            self.inputs[questions],
            self.to_first[questions],
        )


class WriterNetwork:
    """From the pieces of questions to a state that the search begins with."""

    def __init__(
        self, weights: Weights, *, heads: int, epsilon: float, unwritable: Sequence[int], unknown: int
    ) -> None:
        """``unwritable`` are the ids of tokens that are never written, ``unknown`` is read for a copied word."""
        self._encoder = Encoder.of(weights.within("word_encoder.transformer"), heads, epsilon)
        decoder = weights.within("decoder")
        self.layers = tuple(_Layer.of(layer) for layer in decoder.numbered("_layers"))
        self.embedding = decoder["_embedding.weight"]
        self.unknown = unknown
        self._word_embedding = np.ascontiguousarray(decoder["_word_embedding.weight"].T)
        self._copy = Linear.of(decoder.within("_copy"))
        generate, bias = decoder["_generate.weight"], decoder["_generate.bias"].copy()
        bias[list(unwritable)] = -np.inf
        self.generate, self.generate_bias = _in_blocks(generate, bias)

    @property
    def token_count(self) -> int:
        """How many tokens can be generated; copied words have ids from :attr:`first_word` up."""
        return len(self.embedding)

    @property
    def first_word(self) -> int:
        """The id of the first word of a question, as far as its words are not among the tokens."""
        return int(self.generate_bias.shape[0])

    def encode(self, questions: Sequence[PieceIds], source_ids: Sequence[Sequence[int]]) -> WriterState:
        """All questions at once; ``source_ids`` has the id of each word, equal ones for equal words."""
        counts = [question.word_count for question in questions]
        rows = rows_of(counts)
        flat = self._encoder.words_of(questions)
        states = np.zeros((len(questions), max(counts), flat.shape[1]), dtype=np.float32)
        ids = np.full(states.shape[:2], -1, dtype=np.int64)
        for number, span in enumerate(rows):
            states[number, : counts[number]] = flat[span]
            ids[number, : counts[number]] = source_ids[number]
        memory = self._memory(states, ids)
        means = np.stack([flat[span].mean(axis=0) for span in rows])
        hidden = []
        for layer in self.layers:
            output, cell = np.split(np.tanh(layer.initial(means)), 2, axis=-1)
            hidden.append((np.ascontiguousarray(output), np.ascontiguousarray(cell)))
        return WriterState(self, memory, tuple(hidden))

    def _memory(self, states: Array, ids: TokenIds) -> _Memory:
        is_word = ids >= 0
        padding = np.where(is_word, np.float32(0), np.float32(-np.inf))[:, None, :]
        same = (ids[:, :, None] == ids[:, None, :]) & is_word[:, :, None] & is_word[:, None, :]
        places = same.argmax(axis=2)
        is_first = is_word & (places == np.arange(ids.shape[1]))
        shares = same.astype(np.float32)
        shares /= np.maximum(shares.sum(axis=2, keepdims=True), 1)
        return _Memory(
            padding,
            tuple(_turned(states @ layer.keys) for layer in self.layers),
            tuple(layer.joined_context(states) for layer in self.layers),
            _turned(np.tanh(self._copy(states))),
            np.where(is_first, ids, -1),
            np.matmul(shares, states @ self._word_embedding),
            (same & is_first[:, None, :]).astype(np.float32),
        )


def _turned(states: Array) -> Array:
    return np.ascontiguousarray(states.transpose(0, 2, 1))


def _in_blocks(weight: Array, bias: Array) -> tuple[Array, Array]:
    """A matrix (outputs, inputs) as square blocks (blocks, inputs, inputs), at least one output of padding at the end.

    What is padded is never chosen, and takes what is added for words that are counted elsewhere.
    """
    size = weight.shape[1]
    padding = size - len(weight) % size
    padded = np.concatenate([weight, np.zeros((padding, size), dtype=np.float32)])
    blocks = np.ascontiguousarray(padded.reshape(-1, size, size).transpose(0, 2, 1))
    return blocks, np.concatenate([bias, np.full(padding, -np.inf, dtype=np.float32)])


@dataclass(frozen=True, slots=True)
class WriterState:
    """The questions, and each layer's output and cell, (questions * width, hidden)."""

    network: WriterNetwork
    memory: _Memory
    hidden: tuple[tuple[Array, Array], ...]

    def advance(self, tokens: TokenIds) -> tuple[Array, WriterState]:
        """See :class:`~qdecomp.runtime.beam_search.SearchState`."""
        network, memory = self.network, self.memory
        questions, width = tokens.shape
        found = self._inputs(tokens)
        hidden = []
        for number, (layer, before) in enumerate(zip(network.layers, self.hidden, strict=True)):
            output, cell = layer.step(found, *before)
            hidden.append((output, cell))
            asking = output.reshape(questions, width, -1)
            attention = np.matmul(asking, memory.keys[number])
            attention += memory.padding
            attention -= attention.max(axis=-1, keepdims=True)
            np.exp(attention, out=attention)
            attention /= attention.sum(axis=-1, keepdims=True)
            found = np.matmul(attention, memory.contexts[number]).reshape(len(output), -1)
            found += output @ layer.joined_output
            np.tanh(found, out=found)
        return self._probabilities(found, questions), replace(self, hidden=tuple(hidden))

    def reorder(self, parents: TokenIds) -> WriterState:
        """See :class:`~qdecomp.runtime.beam_search.SearchState`."""
        questions = len(parents)
        width = len(self.hidden[0][0]) // max(questions, 1)
        rows = (parents + np.arange(questions)[:, None] * width).reshape(-1)
        return replace(self, hidden=tuple((output[rows], cell[rows]) for output, cell in self.hidden))

    def select(self, questions: TokenIds) -> WriterState:
        """See :class:`~qdecomp.runtime.beam_search.SearchState`."""
        width = len(self.hidden[0][0]) // len(self.memory.padding)
        rows = (questions[:, None] * width + np.arange(width)).reshape(-1)
        hidden = tuple((output[rows], cell[rows]) for output, cell in self.hidden)
        return WriterState(self.network, self.memory.select(questions), hidden)

    def _inputs(self, tokens: TokenIds) -> Array:
        """What the first layer reads for the tokens before, (rows, embedding)."""
        network = self.network
        known = np.where(tokens < network.token_count, tokens, network.unknown)
        copied = (tokens[:, :, None] == self.memory.first_ids[:, None, :]).astype(np.float32)
        inputs: Array = network.embedding[known.reshape(-1)]
        inputs += np.matmul(copied, self.memory.inputs).reshape(inputs.shape)
        return inputs

    def _probabilities(self, outputs: Array, questions: int) -> Array:
        """Of all tokens, then of the words (rows, tokens and padding and words)."""
        network, memory = self.network, self.memory
        words, size = memory.first_ids.shape[1], outputs.shape[1]
        result = np.empty((len(outputs), network.first_word + words), dtype=np.float32)
        for number, block in enumerate(network.generate):
            np.matmul(outputs, block, out=result[:, number * size : (number + 1) * size])
        result[:, : network.first_word] += network.generate_bias
        copied = np.matmul(outputs.reshape(questions, -1, size), memory.copy_keys)
        copied += memory.padding
        result[:, network.first_word :] = copied.reshape(len(outputs), words)
        result -= result.max(axis=1, keepdims=True)
        np.exp(result, out=result)
        result /= result.sum(axis=1, keepdims=True)
        # The places of a word share its probability, also with generation where the tokens have the word.
        by_copying = result[:, network.first_word :].reshape(questions, -1, words)
        shared = np.matmul(by_copying, memory.to_first)
        result[:, network.first_word :] = 0.0
        ids = np.where(memory.first_ids >= 0, memory.first_ids, network.first_word - 1)
        rows = np.arange(len(outputs)).reshape(questions, -1, 1)
        result[rows, ids[:, None, :]] += shared
        return result
