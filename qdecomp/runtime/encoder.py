"""BERT's encoder in NumPy, and words as means of their pieces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .layers import Array, LayerNorm, Linear, Weights, attend, gelu
from .weights import ByteRows
from .word_pieces import PieceIds

__all__ = ["Encoder", "rows_of", "word_states"]


def rows_of(lengths: Sequence[int]) -> list[slice]:
    """Where each question's rows are, if they are stacked.

    >>> rows_of([2, 3])
    [slice(0, 2, None), slice(2, 5, None)]
    """
    ends = np.cumsum([0, *lengths]).tolist()
    return [slice(start, end) for start, end in pairwise(ends)]


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
        parts = [weights.within(f"attention.self.{name}") for name in ("query", "key", "value")]
        return cls(
            Linear.of(*parts),
            Linear.of(weights.within("attention.output.dense")),
            LayerNorm.of(weights.within("attention.output.LayerNorm"), epsilon),
            Linear.of(weights.within("intermediate.dense")),
            Linear.of(weights.within("output.dense")),
            LayerNorm.of(weights.within("output.LayerNorm"), epsilon),
            heads,
        )

    def __call__(self, states: Array, spans: Sequence[slice]) -> Array:
        queries, keys, values = np.split(self.attention_input(states), 3, axis=-1)
        found = self.attention_output(attend(queries, keys, values, self.heads, spans, spans))
        found += states
        states = self.attention_norm(found)
        changed = self.outer(gelu(self.inner(states)))
        changed += states
        return self.norm(changed)


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
        states = self.norm(embedded)
        spans = rows_of(lengths)
        for layer in self.layers:
            states = layer(states, spans)
        return states

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
