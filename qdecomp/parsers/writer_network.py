"""The networks of a parser that writes, in NumPy: from pieces to a state that the search begins with.

The same as :mod:`qdecomp.training.copynet` with :mod:`qdecomp.training.copy_decoder`. A step of the search is many
small products, so everything that does not change between steps is computed beforehand: keys, what attention to each
word adds to a layer's result, and what reading each token or word adds to the first layer's gates.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from qdecomp.parsers.encoder import Encoder, rows_of
from qdecomp.parsers.layers import Array, Linear, Weights
from qdecomp.parsers.products import BlockMatrix
from qdecomp.parsers.word_pieces import PieceIds
from qdecomp.parsers.writer_state import DecoderLayer, WriterMemory, WriterNets, WriterState
from qdecomp.parsers.writer_tables import CopyTables, copy_tables, generate_bias

__all__ = ["WriterNetwork"]


class WriterNetwork:
    """From the pieces of questions to a state that the search begins with."""

    def __init__(
        self, weights: Weights, *, heads: int, epsilon: float, unwritable: Sequence[int], unknown: int
    ) -> None:
        """``unwritable`` are the ids of tokens that are never written, ``unknown`` is read for a copied word."""
        self._encoder = Encoder.of(weights.within("word_encoder.transformer"), heads, epsilon)
        decoder = weights.within("decoder")
        layers = tuple(DecoderLayer.of(layer) for layer in decoder.numbered("_layers"))
        embedding = decoder["_embedding.weight"]
        self._word_embedding = BlockMatrix.of(decoder["_word_embedding.weight"].T)
        self._copy = Linear.of(decoder.within("_copy"))
        bias = generate_bias(decoder["_generate.bias"], unwritable)
        generate = np.zeros((len(bias), layers[-1].joined_context.matrix.outputs), dtype=np.float32)
        generate[: len(decoder["_generate.bias"])] = decoder["_generate.weight"]
        token_gates = layers[0].from_input.product(embedding) + layers[0].bias
        self._nets = WriterNets(layers, token_gates, unknown, BlockMatrix.of(generate.T), bias)

    @property
    def token_count(self) -> int:
        """How many tokens can be generated; copied words have ids from :attr:`first_word` up."""
        return len(self._nets.token_gates)

    @property
    def first_word(self) -> int:
        """The id of the first word of a question that is not among the tokens."""
        return len(self._nets.generate_bias)

    def encode(self, questions: Sequence[PieceIds]) -> list[Array]:
        """The states of each question's words."""
        flat = self._encoder.words_of(questions)
        return [flat[rows] for rows in rows_of([question.word_count for question in questions])]

    def begin(self, encoded: Sequence[Array], source_ids: Sequence[Sequence[int]], width: int) -> WriterState:
        """The state of encoded questions of one group before anything is written.

        ``source_ids`` has the id of each word; equal words have equal ids. A question has up to ``width`` hypotheses.
        """
        tables = copy_tables(source_ids)
        states = np.zeros((*tables.ids.shape, encoded[0].shape[1]), dtype=np.float32)
        for number, words in enumerate(encoded):
            states[number, : len(words)] = words
        means = np.stack([words.mean(axis=0) for words in encoded])
        hidden = []
        for layer in self._nets.layers:
            output, cell = np.split(np.tanh(layer.initial(means)), 2, axis=-1)
            hidden.append((np.ascontiguousarray(output), np.ascontiguousarray(cell)))
        return WriterState.begin(self._nets, self._memory(states, tables), width, tuple(hidden))

    def _memory(self, states: Array, tables: CopyTables) -> WriterMemory:
        first_ids = tables.first_ids
        is_first = first_ids >= 0
        layers = self._nets.layers
        inputs = np.matmul(tables.shares, self._word_embedding.product_of_each(states))
        return WriterMemory(
            tables.padding,
            tuple(_turned(layer.keys.product_of_each(states)) for layer in layers),
            tuple(layer.joined_context.of_each(states) for layer in layers),
            _turned(np.tanh(self._copy.of_each(states))),
            first_ids,
            layers[0].from_input.product_of_each(inputs),
            ((tables.shares > 0) & is_first[:, None, :]).astype(np.float32),
            np.where(is_first, first_ids, self.first_word - 1)[:, None],
        )


def _turned(states: Array) -> Array:
    return np.ascontiguousarray(states.transpose(0, 2, 1))
