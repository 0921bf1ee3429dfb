"""The graph parser's networks in NumPy: from pieces to the scores of edges and labels.

The same as :mod:`qdecomp.training.biaffine_parser` with special tokens outside the encoder, but in the order of
graphs: first the words of the question, then the special tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from qdecomp.decoding.scores import Places
from qdecomp.parsers.encoder import Encoder, rows_of
from qdecomp.parsers.layers import Array, FeedForward, LayerNorm, Linear, Weights, attend, gelu, sigmoid, softmax
from qdecomp.parsers.products import BlockMatrix
from qdecomp.parsers.word_pieces import PieceIds

__all__ = ["EncodedQuestion", "GraphNetwork", "PairLabels"]


@dataclass(frozen=True, slots=True)
class _AttendingLayer:
    """Special tokens look at the words of their question."""

    norm: LayerNorm
    query: Linear
    key_value: Linear
    output: Linear
    inner_norm: LayerNorm
    inner: Linear
    outer: Linear
    heads: int

    @classmethod
    def of(cls, weights: Weights, heads: int) -> _AttendingLayer:
        weight, bias = weights["attention.in_proj_weight"], weights["attention.in_proj_bias"]
        size = weight.shape[1]
        return cls(
            LayerNorm.of(weights.within("norm")),
            Linear.of_torch(weight[:size], bias[:size]),
            Linear.of_torch(weight[size:], bias[size:]),
            Linear.of(weights.within("attention.out_proj")),
            LayerNorm.of(weights.within("feed_forward.0")),
            Linear.of(weights.within("feed_forward.1")),
            Linear.of(weights.within("feed_forward.3")),
            heads,
        )

    def __call__(
        self, special: Array, words: Array, special_rows: Sequence[slice], word_rows: Sequence[slice]
    ) -> Array:
        keys, values = np.split(self.key_value(words), 2, axis=-1)
        queries = self.query(self.norm(special))
        special = special + self.output(attend(queries, keys, values, self.heads, special_rows, word_rows))
        return special + self.outer(gelu(self.inner(self.inner_norm(special))))


class PairLabels:
    """The probabilities of labels for pairs of tokens, computed for the requested heads, and kept."""

    def __init__(self, label_from: Array, label_to: Array, weight: Array) -> None:
        self._label_from = _with_one(label_from)
        self._label_to = _with_one(label_to).T
        # Shape: (size, labels, size)
        self._weight = weight
        self._known = np.zeros(len(label_from), dtype=np.bool_)
        self._probabilities = np.empty((len(label_from), len(label_from), weight.shape[1]), dtype=np.float32)

    def __call__(self, heads: Places, dependents: Places) -> Array:
        """Those of some pairs, (pairs, labels)."""
        asked = np.unique(heads)
        self._work_out(asked[~self._known[asked]])
        probabilities: Array = self._probabilities[heads, dependents]
        return probabilities

    def _work_out(self, heads: npt.NDArray[np.intp]) -> None:
        if not len(heads):
            return
        size, labels, _ = self._weight.shape
        halves = np.matmul(self._label_from[heads], self._weight.reshape(size, -1)).reshape(-1, size)
        # Shape: (heads, labels, tokens)
        scores = np.matmul(halves, self._label_to).reshape(len(heads), labels, -1)
        self._probabilities[heads] = softmax(scores.transpose(0, 2, 1))
        self._known[heads] = True


@dataclass(frozen=True, slots=True)
class EncodedQuestion:
    """What the networks say about the tokens of one question."""

    edge_probabilities: Array
    """(tokens, tokens), heads first."""
    label_probabilities: PairLabels


class GraphNetwork:
    """From the pieces of questions to probabilities, for the weights of a ``biaffine_graph_parser``."""

    def __init__(self, weights: Weights, *, heads: int, epsilon: float, special_heads: int) -> None:
        self._encoder = Encoder.of(weights.within("word_encoder.transformer"), heads, epsilon)
        special = weights.within("word_encoder.special_states")
        self._special = special["vectors"]
        self._special_layers = [_AttendingLayer.of(layer, special_heads) for layer in special.numbered("layers")]
        self._special_norm = LayerNorm.of(special.within("norm"))
        names = ("edge_from", "edge_to", "label_from", "label_to")
        self._nets = {name: FeedForward.of(weights.within(name)) for name in names}
        self._edge_weight = BlockMatrix.of(weights["edge_scorer.weight"])
        flat = weights["label_scorer.weight"]
        self._label_weight = flat.reshape(len(flat), -1, len(flat))

    @property
    def special_count(self) -> int:
        """How many special tokens follow every question."""
        return len(self._special)

    @property
    def label_count(self) -> int:
        """How many labels an edge may have."""
        return self._label_weight.shape[1]

    def encode(self, questions: Sequence[PieceIds]) -> Iterator[EncodedQuestion]:
        """All questions at once; what is computed for the pairs of one is discarded when the next is requested."""
        word_counts = [question.word_count for question in questions]
        states = self._token_states(questions, word_counts)
        results = {name: net(states) for name, net in self._nets.items()}
        half = self._edge_weight.product(_with_one(results["edge_from"]))
        edge_to = _with_one(results["edge_to"])
        for rows in rows_of([count + self.special_count for count in word_counts]):
            labels = PairLabels(results["label_from"][rows], results["label_to"][rows], self._label_weight)
            yield EncodedQuestion(sigmoid(np.matmul(half[rows], edge_to[rows].T)), labels)

    def _token_states(self, questions: Sequence[PieceIds], word_counts: Sequence[int]) -> Array:
        """The states of each question's words and special tokens, stacked."""
        words = self._encoder.words_of(questions)
        word_rows = rows_of(word_counts)
        special_rows = rows_of([self.special_count] * len(questions))
        special = np.tile(self._special, (len(questions), 1))
        for layer in self._special_layers:
            special = layer(special, words, special_rows, word_rows)
        special = self._special_norm(special)
        parts = [part for w, s in zip(word_rows, special_rows, strict=True) for part in (words[w], special[s])]
        return np.concatenate(parts)


def _with_one(vectors: Array) -> Array:
    return np.concatenate([vectors, np.ones((len(vectors), 1), dtype=vectors.dtype)], axis=1)
