"""BERT's encoder in NumPy, and words as means of their pieces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from qdecomp.parsers.layers import Array, LayerNorm, Linear, Weights, gelu, softmax
from qdecomp.parsers.products import padded
from qdecomp.parsers.weights import ByteRows
from qdecomp.parsers.word_pieces import PieceIds

__all__ = ["Encoder", "rows_of", "same_when_padded", "word_states"]

# Questions are padded to a multiple of so many pieces, and those of one length are encoded together: then the shape of
# a question's products, and with it the last digit of its states, is its own and not that of its neighbours.
_PIECES_OF_A_STRIDE = 4
# So many pieces at most go through a layer together, as attention to all pieces of long questions takes much memory.
_MOST_PIECES = 1024


def rows_of(lengths: Sequence[int]) -> list[slice]:
    """Where each question's rows are, if they are stacked.

    >>> rows_of([2, 3])
    [slice(0, 2, None), slice(2, 5, None)]
    """
    ends = np.cumsum([0, *lengths]).tolist()
    return [slice(start, end) for start, end in pairwise(ends)]


def same_when_padded(lengths: Sequence[int], stride: int) -> list[list[int]]:
    """The numbers of those that have one length when they are padded.

    >>> same_when_padded([3, 12, 8, 9], 8)
    [[0, 2], [1, 3]]
    """
    groups: dict[int, list[int]] = {}
    for number, length in enumerate(lengths):
        groups.setdefault(padded(length, stride), []).append(number)
    return list(groups.values())


@dataclass(frozen=True, slots=True)
class _Layer:
    """Attention, then a feed-forward network, each with the states added and normalised."""

    attention_input: Linear
    attention_output: Linear
    attention_norm: LayerNorm
    inner: Linear
    outer: Linear
    norm: LayerNorm
    heads: int

    @classmethod
    def of(cls, weights: Weights, heads: int, epsilon: float) -> _Layer:
        query, key, value = (weights.within(f"attention.self.{name}") for name in ("query", "key", "value"))
        # The scale of attention is part of the weights.
        scale = np.float32((len(query["bias"]) // heads) ** -0.5)
        return cls(
            Linear.of_torch(
                np.concatenate([query["weight"] * scale, key["weight"], value["weight"]]),
                np.concatenate([query["bias"] * scale, key["bias"], value["bias"]]),
            ),
            Linear.of(weights.within("attention.output.dense")),
            LayerNorm.of(weights.within("attention.output.LayerNorm"), epsilon),
            Linear.of(weights.within("intermediate.dense")),
            Linear.of(weights.within("output.dense")),
            LayerNorm.of(weights.within("output.LayerNorm"), epsilon),
            heads,
        )

    def __call__(self, states: Array, padding: Array) -> Array:
        """The states (questions, pieces, size); ``padding`` is 0 for pieces, minus infinity for what is none."""
        found = self.attention_output.of_each(self._attended(states, padding))
        found += states
        states = self.attention_norm(found)
        inner = self.inner.of_each(states)
        for question in inner:  # one by one, as one is small enough for the processor's cache
            question[:] = gelu(question)
        changed = self.outer.of_each(inner)
        changed += states
        return self.norm(changed)

    def _attended(self, states: Array, padding: Array) -> Array:
        questions, pieces, size = states.shape
        parts = self.attention_input.of_each(states).reshape(questions, pieces, 3, self.heads, -1)
        # Shapes: (questions, heads, pieces, part of the size)
        query, key, value = parts.transpose(2, 0, 3, 1, 4)
        scores = np.matmul(query, key.transpose(0, 1, 3, 2))
        scores += padding[:, None, None]
        found = np.empty((questions, pieces, self.heads, size // self.heads), dtype=np.float32)
        np.matmul(softmax(scores), value, out=found.transpose(0, 2, 1, 3))
        return found.reshape(states.shape)


@dataclass(frozen=True, slots=True)
class Encoder:
    """A stack of layers over embedded pieces, for questions without padding."""

    words: Array | ByteRows
    positions: Array
    norm: LayerNorm
    layers: tuple[_Layer, ...]

    @classmethod
    def of(cls, weights: Weights, heads: int, epsilon: float) -> Encoder:
        """The encoder with weights named as in ``transformers``' BERT."""
        embeddings = weights.within("embeddings")
        return cls(
            embeddings.rows("word_embeddings.weight"),
            # All pieces are of the first type.
            embeddings["position_embeddings.weight"] + embeddings["token_type_embeddings.weight"][0],
            LayerNorm.of(embeddings.within("LayerNorm"), epsilon),
            tuple(_Layer.of(layer, heads, epsilon) for layer in weights.numbered("encoder.layer")),
        )

    def __call__(self, questions: Sequence[Sequence[int]]) -> Array:
        """The states of all pieces of all questions, stacked."""
        lengths = [len(pieces) for pieces in questions]
        ids = np.concatenate([np.asarray(pieces, dtype=np.intp) for pieces in questions])
        places = np.concatenate([np.arange(length) for length in lengths])
        embedded: Array = self.words[ids]
        embedded += self.positions[places]
        normed = self.norm(embedded)
        spans = rows_of(lengths)
        parts = [
            group[start : start + size]
            for group in same_when_padded(lengths, _PIECES_OF_A_STRIDE)
            if (size := max(1, _MOST_PIECES // lengths[group[0]]))
            for start in range(0, len(group), size)
        ]
        padded_parts = [_padded_together([normed[spans[number]] for number in part]) for part in parts]
        # Layer by layer, so that the weights of one layer are read from the processor's cache.
        for layer in self.layers:
            padded_parts = [(layer(states, padding), padding) for states, padding in padded_parts]
        for part, (states, _) in zip(parts, padded_parts, strict=True):
            for number, rows in zip(part, states, strict=True):
                normed[spans[number]] = rows[: lengths[number]]
        return normed

    def words_of(self, questions: Sequence[PieceIds]) -> Array:
        """The states of all words of all questions, stacked."""
        starts = [rows.start for rows in rows_of([question.word_count for question in questions])]
        # Words are numbered across all questions.
        numbers = [
            start + word if word >= 0 else -1
            for question, start in zip(questions, starts, strict=True)
            for word in question.words
        ]
        return word_states(self([question.ids for question in questions]), numbers)


def _padded_together(questions: Sequence[Array]) -> tuple[Array, Array]:
    """Questions of one padded length as (questions, pieces, size), and (questions, pieces) what is padding."""
    shape = (len(questions), padded(len(questions[0]), _PIECES_OF_A_STRIDE))
    states = np.zeros((*shape, questions[0].shape[1]), dtype=np.float32)
    padding = np.full(shape, -np.inf, dtype=np.float32)
    for row, question in enumerate(questions):
        states[row, : len(question)] = question
        padding[row, : len(question)] = 0
    return states, padding


def word_states(piece_states: Array, words: Sequence[int]) -> Array:
    """The mean state of each word; ``words`` has the index of each piece's word, ascending, or below 0 for none."""
    numbers = np.asarray(words)
    inside = numbers >= 0
    numbers = numbers[inside]
    starts = np.flatnonzero(np.diff(numbers, prepend=-1))
    sizes = np.diff(starts, append=len(numbers)).astype(np.float32)
    means: Array = np.add.reduceat(piece_states[inside], starts, axis=0)
    means /= sizes[:, None]
    return means
