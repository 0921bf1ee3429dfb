"""A step of writing: what the networks of a decoder make of the last token of each hypothesis."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from qdecomp.decoding.plan_rules import TokenIds

from .layers import Array, Linear, Weights
from .products import BlockMatrix

__all__ = ["DecoderLayer", "WriterMemory", "WriterNets", "WriterState"]

# torch stacks the gates in this order: input, forget, cell, output.
_GATES = 4
_SIGMOIDS_FIRST = (0, 1, 3, 2)
# Few hypotheses of a question are being written at a time; a block of more rows would be mostly empty.
_ROWS = 4


@dataclass(frozen=True, slots=True)
class DecoderLayer:
    """An LSTM, attention from its outputs to the question, and a combination of both."""

    initial: Linear
    from_input: BlockMatrix  # (inputs, gates)
    from_output: BlockMatrix  # (hidden, gates)
    bias: Array  # (gates)
    keys: BlockMatrix  # (encoder, hidden)
    joined_output: BlockMatrix  # (hidden, hidden)
    joined_context: Linear

    @classmethod
    def of(cls, weights: Weights) -> DecoderLayer:
        """The layer with these weights."""
        joined = weights["joined.weight"]
        hidden = len(joined)
        scale = np.float32(hidden**-0.5)
        bias = weights["lstm.bias_ih_l0"] + weights["lstm.bias_hh_l0"]
        return cls(
            Linear.of(weights.within("initial")),
            BlockMatrix.of(_gates(weights["lstm.weight_ih_l0"])),
            BlockMatrix.of(_gates(weights["lstm.weight_hh_l0"])),
            _gates(bias[:, None])[0],
            BlockMatrix.of(weights["keys.weight"].T * scale),
            BlockMatrix.of(joined[:, :hidden].T),
            # Attention sums to one, so the bias can be added to what is attended to.
            Linear.of_torch(joined[:, hidden:], weights["joined.bias"]),
        )

    def gates_of_input(self, inputs: Array) -> Array:
        """What rows of inputs add to the gates, with the bias."""
        gates = self.from_input.product(inputs, _ROWS)
        gates += self.bias
        return gates

    def step(self, gates_of_input: Array, output: Array, cell: Array) -> tuple[Array, Array]:
        """The LSTM's next output and cell for rows."""
        gates = self.from_output.product(output, _ROWS)
        gates += gates_of_input
        np.tanh(gates, out=gates)
        hidden = output.shape[1]
        # Half of the hyperbolic tangent of half of a number, and a half, is its sigmoid.
        sigmoids = gates[:, : 3 * hidden]
        sigmoids *= np.float32(0.5)
        sigmoids += np.float32(0.5)
        cell = gates[:, hidden : 2 * hidden] * cell
        cell += gates[:, :hidden] * gates[:, 3 * hidden :]
        output = np.tanh(cell)
        output *= gates[:, 2 * hidden : 3 * hidden]
        return output, cell


def _gates(weight: Array) -> Array:
    """A matrix (gates of all units, inputs) as (inputs, gates of all units), those of the sigmoids halved and first."""
    gates = weight.reshape(_GATES, -1, weight.shape[1])[list(_SIGMOIDS_FIRST)]
    gates[:3] *= np.float32(0.5)
    return gates.reshape(weight.shape).T


@dataclass(frozen=True, slots=True)
class WriterNets:
    """What is the same for all questions."""

    layers: tuple[DecoderLayer, ...]
    token_gates: Array  # (tokens, gates), what reading a token adds to the first layer's gates
    unknown: int
    generate: BlockMatrix  # (hidden, tokens and padding)
    generate_bias: Array


@dataclass(frozen=True, slots=True)
class WriterMemory:
    """Encoded questions, padded to one length, prepared for the decoder."""

    padding: Array  # (questions, 1, words), 0 for words, minus infinity for what is none
    keys: tuple[Array, ...]  # for each layer (questions, hidden, words)
    contexts: tuple[Array, ...]  # for each layer (questions, words, hidden)
    copy_keys: Array  # (questions, hidden, words)
    first_ids: TokenIds  # (questions, words), the id of a word where the question has it first, below 0 elsewhere
    word_gates: Array  # (questions, words, gates), what reading a word adds to the first layer's gates
    to_first: Array  # (questions, words, words), 1 from each word to where the question has it first

    def select(self, questions: TokenIds) -> WriterMemory:
        """Those questions only."""
        return WriterMemory(
            self.padding[questions],
            tuple(keys[questions] for keys in self.keys),
            tuple(contexts[questions] for contexts in self.contexts),
            self.copy_keys[questions],
            self.first_ids[questions],
            self.word_gates[questions],
            self.to_first[questions],
        )


@dataclass(frozen=True, slots=True)
class WriterState:
    """The questions, and the hypotheses that are being written.

    The large products are over the stacked hypotheses. For what is looked up in a question, all places of the questions
    form a table (questions, width, …), so that all questions have products of one shape.
    """

    nets: WriterNets
    memory: WriterMemory
    width: int
    places: TokenIds
    hidden: tuple[tuple[Array, Array], ...]
    """Each layer's output and cell, (hypotheses, hidden)."""

    def advance(self, tokens: TokenIds) -> tuple[Array, WriterState]:
        """See :class:`~qdecomp.runtime.beam_search.SearchState`."""
        memory = self.memory
        gates = self._gates_of_tokens(tokens)
        hidden = []
        for number, (layer, before) in enumerate(zip(self.nets.layers, self.hidden, strict=True)):
            output, cell = layer.step(gates, *before)
            hidden.append((output, cell))
            attention = np.matmul(self._as_table(output), memory.keys[number])
            attention += memory.padding
            attention -= attention.max(axis=-1, keepdims=True)
            np.exp(attention, out=attention)
            attention /= attention.sum(axis=-1, keepdims=True)
            found = self._from_table(np.matmul(attention, memory.contexts[number]))
            found += layer.joined_output.product(output, _ROWS)
            np.tanh(found, out=found)
            if number + 1 < len(self.nets.layers):
                gates = self.nets.layers[number + 1].gates_of_input(found)
        return self._probabilities(found), replace(self, hidden=tuple(hidden))

    def follow(self, parents: TokenIds, places: TokenIds) -> WriterState:
        """See :class:`~qdecomp.runtime.beam_search.SearchState`."""
        hidden = tuple((output[parents], cell[parents]) for output, cell in self.hidden)
        return replace(self, places=places, hidden=hidden)

    def select(self, questions: TokenIds) -> WriterState:
        """See :class:`~qdecomp.runtime.beam_search.SearchState`."""
        numbers, ranks = np.divmod(self.places, self.width)
        places = np.searchsorted(questions, numbers) * self.width + ranks
        return replace(self, memory=self.memory.select(questions), places=places)

    def _as_table(self, rows: Array) -> Array:
        """Rows of the hypotheses at their places in a table (questions, width, …), zeros elsewhere."""
        shape = (len(self.memory.padding), self.width, rows.shape[1])
        if len(rows) == shape[0] * shape[1]:
            return rows.reshape(shape)
        table = np.zeros((shape[0] * shape[1], rows.shape[1]), dtype=np.float32)
        table[self.places] = rows
        return table.reshape(shape)

    def _from_table(self, table: Array) -> Array:
        rows = table.reshape(-1, table.shape[-1])
        return rows if len(rows) == len(self.places) else rows[self.places]

    def _gates_of_tokens(self, tokens: TokenIds) -> Array:
        """What reading the last tokens adds to the first layer's gates."""
        nets, memory = self.nets, self.memory
        gates: Array = nets.token_gates[np.where(tokens < len(nets.token_gates), tokens, nets.unknown)]
        questions = self.places // self.width
        rows, words = np.nonzero(memory.first_ids[questions] == tokens[:, None])
        gates[rows] += memory.word_gates[questions[rows], words]
        return gates

    def _probabilities(self, outputs: Array) -> Array:
        """Of all tokens, then of the words (hypotheses, tokens and padding and words)."""
        nets, memory = self.nets, self.memory
        questions, words = memory.first_ids.shape
        first_word = len(nets.generate_bias)
        generated = nets.generate.product(outputs, _ROWS)
        generated += nets.generate_bias
        result = np.empty((questions, self.width, first_word + words), dtype=np.float32)
        result[:, :, :first_word] = self._as_table(generated)
        copied = result[:, :, first_word:]
        np.matmul(self._as_table(outputs), memory.copy_keys, out=copied)
        copied += memory.padding
        result -= result.max(axis=-1, keepdims=True)
        np.exp(result, out=result)
        result /= result.sum(axis=-1, keepdims=True)
        # The places of a word share its probability, also with generation if the tokens include the word.
        shared = np.matmul(copied, memory.to_first)
        copied[:] = 0.0
        ids = np.where(memory.first_ids >= 0, memory.first_ids, first_word - 1)
        rows = result.reshape(questions * self.width, -1)
        rows[np.arange(len(rows)).reshape(questions, -1, 1), ids[:, None, :]] += shared
        return self._from_table(result)
