"""The networks of a parser that writes, with products of bytes in ``onnxruntime``.

They are those of :mod:`qdecomp.parsers.writer_network`, as the models of :mod:`qdecomp.parsers.byte_steps`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from qdecomp.parsers.beam_search import NextTokens
from qdecomp.parsers.byte_encoder import ByteEncoder
from qdecomp.parsers.byte_products import ZEROS, start_session, zeros_of
from qdecomp.parsers.byte_steps import contexts_name, keys_name, reading_model, step_model, token_gates
from qdecomp.parsers.layers import Array, Weights
from qdecomp.parsers.plan_rules import TokenIds
from qdecomp.parsers.word_pieces import PieceIds
from qdecomp.parsers.writer_tables import copy_tables, generate_bias

__all__ = ["ByteWriterNetwork"]


class ByteWriterNetwork:
    """From the pieces of questions to a state that the search begins with."""

    def __init__(
        self, weights: Weights, *, heads: int, epsilon: float, unwritable: Sequence[int], unknown: int
    ) -> None:
        """``unwritable`` are the ids of tokens that are never written, ``unknown`` is read for a copied word."""
        decoder = weights.within("decoder")
        bias = generate_bias(decoder["_generate.bias"], unwritable)
        self._encoder = ByteEncoder.of(weights.within("word_encoder.transformer"), heads, epsilon)
        self._reading = start_session(reading_model(decoder))
        self._step = start_session(step_model(decoder, bias))
        self._token_gates = token_gates(decoder)
        self._layers = len(decoder.numbered("_layers"))
        self._unknown = unknown
        self.first_word = len(bias)
        """The id of the first word of a question that is not among the tokens."""

    @property
    def token_count(self) -> int:
        """How many tokens can be generated."""
        return len(self._token_gates)

    def encode(self, questions: Sequence[PieceIds]) -> list[Array]:
        """The states of each question's words."""
        return self._encoder.words_of(questions)

    def begin(self, encoded: Sequence[Array], source_ids: Sequence[Sequence[int]], width: int) -> ByteWriterState:
        """See :meth:`~qdecomp.parsers.writer_network.WriterNetwork.begin`."""
        tables = copy_tables(source_ids)
        words = tables.ids.shape[1]
        read = [self._read(states, shares) for states, shares in zip(encoded, tables.shares, strict=True)]
        *looked_up, word_gates, states = zip(*read, strict=True)
        names = [name(layer) for layer in range(self._layers) for name in (keys_name, contexts_name)]
        columns = np.arange(self.first_word + words)
        by_question = {"padding": tables.padding, "targets": (tables.ids[:, :, None] == columns).astype(np.float32)}
        for number, (name, arrays) in enumerate(zip([*names, "copy_keys"], looked_up, strict=True)):
            by_question[name] = _padded_words(arrays, words, axis=number % 2)
        shared = {
            "gates": self._gates(word_gates, source_ids),
            "tokens": (columns < self.first_word).astype(np.float32),
        }
        memory = _Memory(shared, by_question, _rows_of_words(source_ids, self.token_count))
        numbers = np.arange(len(encoded))
        return ByteWriterState(self._step, memory, width, numbers * width, numbers, np.concatenate(states))

    def _read(self, words: Array, shares: Array) -> list[Array]:
        count = len(words)
        given = {"words": words, "shares": np.ascontiguousarray(shares[:count, :count]), ZEROS: zeros_of(count)}
        found: list[Array] = self._reading.run(None, given)
        return found

    def _gates(self, word_gates: Sequence[Array], source_ids: Sequence[Sequence[int]]) -> Array:
        """What reading each token, then each word of each question, adds to the first gates."""
        read = np.concatenate([np.asarray(ids) for ids in source_ids])
        # A copied word is read as its token, or as the unknown one, and as itself.
        known = self._token_gates[np.where(read < self.token_count, read, self._unknown)]
        return np.concatenate([self._token_gates, known + np.concatenate(word_gates)])


def _padded_words(matrices: Sequence[Array], words: int, axis: int) -> Array:
    """Matrices as one array, in which the last axis, or the one before, is as long as the longest question."""
    other = matrices[0].shape[axis]
    result = np.zeros((len(matrices), words, other) if axis else (len(matrices), other, words), dtype=np.float32)
    for place, matrix in zip(result, matrices, strict=True):
        place[: len(matrix), : matrix.shape[1]] = matrix
    return result


def _rows_of_words(source_ids: Sequence[Sequence[int]], before: int) -> list[dict[int, int]]:
    """For each question, by the id of a word, where it is in a table that has all words of all questions."""
    found = []
    for ids in source_ids:
        rows: dict[int, int] = {}
        for place, number in enumerate(ids):
            rows.setdefault(number, before + place)
        found.append(rows)
        before += len(ids)
    return found


@dataclass(frozen=True, slots=True)
class _Memory:
    """What was read of the questions, by the names of the step's inputs."""

    shared: dict[str, Array]
    by_question: dict[str, Array]  # their first axis is the questions
    rows_of_words: list[dict[int, int]]

    def select(self, questions: TokenIds) -> _Memory:
        by_question = {name: array[questions] for name, array in self.by_question.items()}
        return _Memory(self.shared, by_question, [self.rows_of_words[number] for number in questions.tolist()])


@dataclass(frozen=True, slots=True)
class ByteWriterState:
    """The questions, and the hypotheses that are being written; see :class:`~qdecomp.parsers.beam_search.SearchState`.

    Each hypothesis has a place, and the row of the state that it continues.
    """

    step: Any
    memory: _Memory
    width: int
    places: TokenIds
    parents: TokenIds
    state: Array

    def next_tokens(
        self, tokens: TokenIds, forbidden: Sequence[TokenIds], count: int
    ) -> tuple[NextTokens, ByteWriterState]:
        """The most probable next tokens."""
        memory = self.memory
        questions, ranks = np.divmod(self.places, self.width)
        rows = np.arange(len(self.places))
        places = np.zeros((len(memory.rows_of_words), self.width), dtype=np.int64)
        places.reshape(-1)[self.places] = rows
        allowed = np.ones((*places.shape, len(memory.shared["tokens"])), dtype=np.float32)
        for question, rank, ids in zip(questions.tolist(), ranks.tolist(), forbidden, strict=True):
            allowed[question, rank, ids] = 0.0
        pairs = zip(tokens.tolist(), questions.tolist(), strict=True)
        read = [memory.rows_of_words[question].get(token, token) for token, question in pairs]
        given = {
            **memory.shared,
            **memory.by_question,
            "state": self.state,
            "parents": self.parents,
            "read": np.array(read),
            "slots": self.places,
            "places": places,
            "allowed": allowed,
            "count": np.array([min(count, allowed.shape[2])]),
        }
        logarithms, best, state = self.step.run(None, given)
        found = NextTokens(*(each.reshape(-1, each.shape[2])[self.places].tolist() for each in (best, logarithms)))
        return found, ByteWriterState(self.step, memory, self.width, self.places, rows, state)

    def follow(self, parents: TokenIds, places: TokenIds) -> ByteWriterState:
        """The state of hypotheses at these places."""
        return ByteWriterState(self.step, self.memory, self.width, places, parents, self.state)

    def select(self, questions: TokenIds) -> ByteWriterState:
        """The state of these questions only."""
        numbers, ranks = np.divmod(self.places, self.width)
        places = np.searchsorted(questions, numbers) * self.width + ranks
        return ByteWriterState(self.step, self.memory.select(questions), self.width, places, self.parents, self.state)
