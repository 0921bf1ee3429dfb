"""BERT's encoder as an ONNX model with products of bytes: from embedded pieces to words, one question at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from qdecomp.parsers.byte_products import ZEROS, ByteMatrix, ByteModel, start_session, zeros_of
from qdecomp.parsers.layers import Array, Weights
from qdecomp.parsers.onnx_model import MICROSOFT
from qdecomp.parsers.weights import ByteRows
from qdecomp.parsers.word_pieces import PieceIds

__all__ = ["ByteEncoder"]


@dataclass(frozen=True, slots=True)
class ByteEncoder:
    """The embeddings, and a session for everything after them."""

    words: Array | ByteRows
    positions: Array
    session: Any

    @classmethod
    def of(cls, weights: Weights, heads: int, epsilon: float) -> ByteEncoder:
        """The encoder with weights named as in ``transformers``' BERT."""
        embeddings = weights.within("embeddings")
        model = ByteModel()
        pieces = model.input("pieces", np.float32, 2)
        model.input(ZEROS, np.uint8, 1)
        states = _norm(model, pieces, embeddings, epsilon)
        for layer in weights.numbered("encoder.layer"):
            states = _add_layer(model, states, layer, heads, epsilon)
        words = model.op("MatMul", model.input("shares", np.float32, 2), states)
        return cls(
            embeddings.rows("word_embeddings.weight"),
            # All pieces are of the first type.
            embeddings["position_embeddings.weight"] + embeddings["token_type_embeddings.weight"][0],
            start_session(model.model([(words, np.float32, 2)])),
        )

    def words_of(self, questions: Sequence[PieceIds]) -> list[Array]:
        """The states of each question's words: the means of their pieces."""
        return [self._words_of(question) for question in questions]

    def _words_of(self, question: PieceIds) -> Array:
        embedded = self.words[np.array(question.ids)]
        embedded += self.positions[: len(question.ids)]
        shares = (np.arange(question.word_count)[:, None] == np.array(question.words)).astype(np.float32)
        shares /= shares.sum(axis=1, keepdims=True)
        given = {"pieces": embedded, "shares": shares, ZEROS: zeros_of(len(embedded))}
        states: Array = self.session.run(None, given)[0]
        return states


def _add_layer(model: ByteModel, states: str, weights: Weights, heads: int, epsilon: float) -> str:
    """Attention, then a feed-forward network, each with the states added and normalised."""
    asked = [weights.within(f"attention.self.{name}") for name in ("query", "key", "value")]
    attended = _attended(model, states, asked, heads)
    states = _add_and_norm(model, attended, states, weights.within("attention.output"), epsilon)
    inner = weights.within("intermediate.dense")
    product = model.product(model.rounded_rows(states), ByteMatrix.of(inner))
    changed = model.op("BiasGelu", product, model.constant(inner["bias"]), domain=MICROSOFT)
    return _add_and_norm(model, changed, states, weights.within("output"), epsilon)


def _attended(model: ByteModel, states: str, weights: Sequence[Weights], heads: int) -> str:
    matrix = ByteMatrix.joined([ByteMatrix.of(each) for each in weights])
    bias = model.constant(np.concatenate([each["bias"] for each in weights]))
    one_question = model.constant([0], np.int64)
    parts = model.op("Unsqueeze", model.product(model.rounded_rows(states), matrix), one_question)
    sizes = [len(each["bias"]) for each in weights]
    found = model.op("MultiHeadAttention", *model.split(parts, sizes), bias, domain=MICROSOFT, num_heads=heads)
    return model.op("Squeeze", found, one_question)


def _add_and_norm(model: ByteModel, rows: str, states: str, weights: Weights, epsilon: float) -> str:
    dense = weights.within("dense")
    changed = model.product(model.rounded_rows(rows), ByteMatrix.of(dense), dense["bias"])
    return _norm(model, model.op("Add", changed, states), weights, epsilon)


def _norm(model: ByteModel, rows: str, weights: Weights, epsilon: float) -> str:
    norm = weights.within("LayerNorm")
    factors = (model.constant(norm[name]) for name in ("weight", "bias"))
    return model.op("LayerNormalization", rows, *factors, axis=-1, epsilon=epsilon)
