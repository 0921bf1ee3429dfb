"""The networks of a parser that writes, in NumPy: from pieces to a state that the search begins with.

The same as :mod:`qdecomp.models.copynet_bert` with :mod:`qdecomp.modules.copy_decoder`. A step of the search is many
small products, so everything that does not change between steps is computed beforehand: keys, what attention to each
word adds to a layer's result, and what reading each token or word adds to the first layer's gates.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from qdecomp.decoding.plan_rules import TokenIds

from .encoder import Encoder, rows_of, same_when_padded
from .layers import Array, Linear, Weights
from .products import BlockMatrix, padded
from .word_pieces import PieceIds
from .writer_state import DecoderLayer, WriterMemory, WriterNets, WriterState

__all__ = ["WriterNetwork", "groups_of_a_length"]

# Questions are padded to a multiple of this many words, and those of one length are searched together: then the shape
# of a question's products, and with it the last digit of its scores, is its own and not that of its neighbours.
_WORDS_OF_A_STRIDE = 8


def groups_of_a_length(word_counts: Sequence[int]) -> list[list[int]]:
    """The numbers of questions that :meth:`WriterNetwork.begin` takes together."""
    return same_when_padded(word_counts, _WORDS_OF_A_STRIDE)


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
        bias = decoder["_generate.bias"].copy()
        bias[list(unwritable)] = -np.inf
        generate, bias = _with_padding(decoder["_generate.weight"], bias)
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
        states = np.zeros(
            (len(encoded), padded(len(encoded[0]), _WORDS_OF_A_STRIDE), encoded[0].shape[1]), dtype=np.float32
        )
        ids = np.full(states.shape[:2], -1, dtype=np.int64)
        for number, (words, numbers) in enumerate(zip(encoded, source_ids, strict=True)):
            states[number, : len(words)] = words
            ids[number, : len(words)] = numbers
        means = np.stack([words.mean(axis=0) for words in encoded])
        hidden = []
        for layer in self._nets.layers:
            output, cell = np.split(np.tanh(layer.initial(means)), 2, axis=-1)
            hidden.append((np.ascontiguousarray(output), np.ascontiguousarray(cell)))
        return WriterState.begin(self._nets, self._memory(states, ids), width, tuple(hidden))

    def _memory(self, states: Array, ids: TokenIds) -> WriterMemory:
        is_word = ids >= 0
        padding = np.where(is_word, np.float32(0), np.float32(-np.inf))[:, None, :]
        same = (ids[:, :, None] == ids[:, None, :]) & is_word[:, :, None] & is_word[:, None, :]
        places = same.argmax(axis=2)
        is_first = is_word & (places == np.arange(ids.shape[1]))
        shares = same.astype(np.float32)
        shares /= np.maximum(shares.sum(axis=2, keepdims=True), 1)
        layers = self._nets.layers
        inputs = np.matmul(shares, self._word_embedding.product_of_each(states))
        return WriterMemory(
            padding,
            tuple(_turned(layer.keys.product_of_each(states)) for layer in layers),
            tuple(layer.joined_context.of_each(states) for layer in layers),
            _turned(np.tanh(self._copy.of_each(states))),
            np.where(is_first, ids, -1),
            layers[0].from_input.product_of_each(inputs),
            (same & is_first[:, None, :]).astype(np.float32),
            np.where(is_first, ids, self.first_word - 1)[:, None],
        )


def _turned(states: Array) -> Array:
    return np.ascontiguousarray(states.transpose(0, 2, 1))


def _with_padding(weight: Array, bias: Array, stride: int = 64) -> tuple[Array, Array]:
    """A matrix (outputs, inputs) and its bias with at least one more output, which is never chosen.

    It receives what is added for words that are counted elsewhere.
    """
    missing = stride - len(weight) % stride
    return (
        np.concatenate([weight, np.zeros((missing, weight.shape[1]), dtype=np.float32)]),
        np.concatenate([bias, np.full(missing, -np.inf, dtype=np.float32)]),
    )
