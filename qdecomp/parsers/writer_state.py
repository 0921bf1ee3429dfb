"""A step of writing: what the networks of a decoder make of the last token of each hypothesis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from qdecomp.parsers.beam_search import NextTokens, best_of_each
from qdecomp.parsers.layers import Array, Linear, Weights, softmax
from qdecomp.parsers.plan_rules import TokenIds
from qdecomp.parsers.products import BlockMatrix, padded

__all__ = ["DecoderLayer", "WriterMemory", "WriterNets", "WriterState"]

# torch stacks the gates in this order: input, forget, cell, output.
_GATES = 4
_SIGMOIDS_FIRST = (0, 1, 3, 2)
# There are always so many rows, or a multiple of it.
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

    def gates_of_input(self, inputs: Array, count: int) -> Array:
        """What the first rows of inputs add to the gates, with the bias."""
        gates = self.from_input.product_of_first(inputs, count)
        gates += self.bias
        return gates

    def step(self, gates_of_input: Array, output: Array, cell: Array, count: int) -> tuple[Array, Array]:
        """The LSTM's next output and cell for the first rows."""
        gates = self.from_output.product_of_first(output, count)
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
    shared_ids: TokenIds  # (questions, 1, words), the ids of words to add to, that of padding where there is none

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
            self.shared_ids[questions],
        )


@dataclass(frozen=True, slots=True)
class WriterState:
    """The questions, and the hypotheses that are being written.

    The large products are of the hypotheses below each other. For what is looked up in a question, the hypotheses of
    each question are the first rows of a part of a table (questions, height, …), so that all questions have products of
    one shape. The rows of one question alone are such a table.
    """

    nets: WriterNets
    memory: WriterMemory
    width: int
    questions: TokenIds
    """The number of each hypothesis' question, ascending."""
    slots: TokenIds | None
    """For several questions, where in the table each row is."""
    hidden: tuple[tuple[Array, Array], ...]
    """Each layer's output and cell (rows, hidden); rows behind those of the hypotheses are padding."""

    @classmethod
    def begin(
        cls, nets: WriterNets, memory: WriterMemory, width: int, hidden: tuple[tuple[Array, Array], ...]
    ) -> WriterState:
        """The state with one hypothesis of each question."""
        numbers = np.arange(len(memory.padding))
        return cls._of_rows(nets, memory, width, numbers, hidden, numbers)

    @classmethod
    def _of_rows(
        cls,
        nets: WriterNets,
        memory: WriterMemory,
        width: int,
        questions: TokenIds,
        hidden: tuple[tuple[Array, Array], ...],
        chosen: TokenIds,
    ) -> WriterState:
        """The state of hypotheses, each of which has the row of ``hidden`` with the number in ``chosen``."""
        height, count = padded(width, _ROWS), len(questions)
        alone = len(memory.padding) == 1
        rows = np.zeros(height if alone else padded(count, _ROWS), dtype=np.int64)
        rows[:count] = chosen
        taken = tuple((output[rows], cell[rows]) for output, cell in hidden)
        slots = None
        if not alone:
            slots = np.zeros(len(rows), dtype=np.int64)
            slots[:count] = questions * height + np.arange(count) - np.searchsorted(questions, questions)
        return cls(nets, memory, width, questions, slots, taken)

    def advance(self, tokens: TokenIds) -> tuple[Array, WriterState]:
        """Read the last token of each hypothesis; the probabilities of the next (hypotheses, tokens).

        They need not sum to one: what cannot follow is left out. The caller may change them.
        """
        memory, count = self.memory, len(self.questions)
        gates = self._gates_of_tokens(tokens)
        hidden = []
        for number, (layer, before) in enumerate(zip(self.nets.layers, self.hidden, strict=True)):
            output, cell = layer.step(gates, *before, count)
            hidden.append((output, cell))
            attention = np.matmul(self._as_table(output), memory.keys[number])
            attention += memory.padding
            found = self._from_table(np.matmul(softmax(attention), memory.contexts[number]))
            found += layer.joined_output.product_of_first(output, count)
            np.tanh(found, out=found)
            if number + 1 < len(self.nets.layers):
                gates = self.nets.layers[number + 1].gates_of_input(found, count)
        state = WriterState(self.nets, memory, self.width, self.questions, self.slots, tuple(hidden))
        return self._probabilities(found), state

    def next_tokens(
        self, tokens: TokenIds, forbidden: Sequence[TokenIds], count: int
    ) -> tuple[NextTokens, WriterState]:
        """See :class:`~qdecomp.parsers.beam_search.SearchState`."""
        probabilities, state = self.advance(tokens)
        for row, ids in zip(probabilities, forbidden, strict=True):
            row[ids] = 0.0
        return best_of_each(probabilities, count), state

    def follow(self, parents: TokenIds, places: TokenIds) -> WriterState:
        """See :class:`~qdecomp.parsers.beam_search.SearchState`."""
        return self._of_rows(self.nets, self.memory, self.width, places // self.width, self.hidden, parents)

    def select(self, questions: TokenIds) -> WriterState:
        """See :class:`~qdecomp.parsers.beam_search.SearchState`."""
        numbers = np.searchsorted(questions, self.questions)
        chosen = np.arange(len(self.questions))
        return self._of_rows(self.nets, self.memory.select(questions), self.width, numbers, self.hidden, chosen)

    def _as_table(self, rows: Array) -> Array:
        """Rows of the hypotheses in the table (questions, height, …), anything finite elsewhere."""
        if self.slots is None:
            return rows[None]
        count, shape = len(self.questions), (len(self.memory.padding), padded(self.width, _ROWS), rows.shape[1])
        table = np.zeros((shape[0] * shape[1], shape[2]), dtype=np.float32)
        table[self.slots[:count]] = rows[:count]
        return table.reshape(shape)

    def _from_table(self, table: Array) -> Array:
        return table[0] if self.slots is None else table.reshape(-1, table.shape[-1])[self.slots]

    def _gates_of_tokens(self, tokens: TokenIds) -> Array:
        """What reading the last tokens adds to the first layer's gates."""
        nets, memory = self.nets, self.memory
        read = np.zeros(len(self.hidden[0][0]), dtype=np.int64)
        read[: len(tokens)] = np.where(tokens < len(nets.token_gates), tokens, nets.unknown)
        gates: Array = nets.token_gates[read]
        rows, words = np.nonzero(memory.first_ids[self.questions] == tokens[:, None])
        gates[rows] += memory.word_gates[self.questions[rows], words]
        return gates

    def _probabilities(self, outputs: Array) -> Array:
        """Of all tokens, then of the words (hypotheses, tokens and padding and words)."""
        nets, memory, count = self.nets, self.memory, len(self.questions)
        questions, words = memory.first_ids.shape
        first_word = len(nets.generate_bias)
        generated = nets.generate.product_of_first(outputs, count)
        generated += nets.generate_bias
        table = self._as_table(outputs)
        result = np.empty((*table.shape[:2], first_word + words), dtype=np.float32)
        result[:, :, :first_word] = self._as_table(generated)
        copied = result[:, :, first_word:]
        np.matmul(table, memory.copy_keys, out=copied)
        copied += memory.padding
        softmax(result)
        # The places of a word share its probability, also with generation where the tokens have the word.
        shared = np.matmul(copied, memory.to_first)
        copied[:] = 0.0
        rows = result.reshape(-1, result.shape[2])
        rows[np.arange(len(rows)).reshape(questions, -1, 1), memory.shared_ids] += shared
        return self._from_table(result)[:count]
