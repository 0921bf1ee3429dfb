"""What the networks of a parser that writes need to know of the words of questions and of the tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from qdecomp.parsers.encoder import same_when_padded
from qdecomp.parsers.plan_rules import TokenIds
from qdecomp.parsers.products import padded
from qdecomp.parsers.weights import Array

__all__ = ["CopyTables", "copy_tables", "generate_bias", "groups_of_a_length"]

# Questions are padded to a multiple of this many words, and those of one length are searched together: then the shape
# of a question's products, and with it the last digit of its scores, is its own and not that of its neighbours.
_WORDS_OF_A_STRIDE = 8
_TOKENS_OF_A_STRIDE = 64


def groups_of_a_length(word_counts: Sequence[int]) -> list[list[int]]:
    """The numbers of questions that are searched together."""
    return same_when_padded(word_counts, _WORDS_OF_A_STRIDE)


@dataclass(frozen=True, slots=True)
class CopyTables:
    """The words of questions of one group, padded to one length."""

    ids: TokenIds  # (questions, words), below 0 for what is no word
    padding: Array  # (questions, 1, words), 0 for words, minus infinity for what is none
    first_ids: TokenIds  # (questions, words), the id of a word where the question has it first, below 0 elsewhere
    shares: Array  # (questions, words, words), the shares that the places of equal words have of each other


def copy_tables(source_ids: Sequence[Sequence[int]]) -> CopyTables:
    """The tables for the ids of each question's words; equal words have equal ids."""
    ids = np.full((len(source_ids), padded(len(source_ids[0]), _WORDS_OF_A_STRIDE)), -1, dtype=np.int64)
    for number, words in enumerate(source_ids):
        ids[number, : len(words)] = words
    is_word = ids >= 0
    same = (ids[:, :, None] == ids[:, None, :]) & is_word[:, :, None]
    is_first = is_word & (same.argmax(axis=2) == np.arange(ids.shape[1]))
    shares = same.astype(np.float32)
    shares /= np.maximum(shares.sum(axis=2, keepdims=True), 1)
    padding = np.where(is_word, np.float32(0), np.float32(-np.inf))[:, None, :]
    return CopyTables(ids, padding, np.where(is_first, ids, -1), shares)


def generate_bias(bias: Array, unwritable: Sequence[int]) -> Array:
    """The bias of generation with at least one more output, which is never chosen, as ``unwritable`` are not.

    It receives what is added for words that are counted elsewhere.
    """
    result = np.full(padded(len(bias) + 1, _TOKENS_OF_A_STRIDE), -np.inf, dtype=np.float32)
    result[: len(bias)] = bias
    result[list(unwritable)] = -np.inf
    return result
