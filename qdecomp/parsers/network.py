"""The networks of a bundled parser, run by onnxruntime.

They compute with quantised rows whose sums are exact, or in shapes that only the question determines:
:mod:`qdecomp.training.onnx_export` makes the graphs. So an answer does not depend on the other questions of a batch, on
the number of threads or on the process.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from qdecomp.data_structures.errors import DataError, missing_extra
from qdecomp.parsers.pieces import PieceIds
from qdecomp.parsers.plan_rules import TokenIds
from qdecomp.parsers.search import NextTokens

Array = npt.NDArray[np.float32]

# Questions are padded to a multiple of this many words, and those of one length are searched together: then the shape
# of a question's products, and with it the last digit of its scores, is its own and not that of its neighbours.
_WORDS_OF_A_STRIDE = 8


def open_session(path: Path) -> Any:
    """A session that runs the graph of a bundle in the thread that asks."""
    try:
        import onnxruntime
    except ImportError:
        raise missing_extra("the bundled parser", "parser") from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    # The graphs need no more than this: to be joined to "SkipLayerNormalization", for one, makes layers slower.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    try:
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library's errors have no common class
        raise DataError(f"{path}: the network cannot be opened ({' '.join(str(error).split())})") from None


def encoder_inputs(questions: Sequence[PieceIds]) -> dict[str, npt.NDArray[Any]]:
    """The inputs of an encoder: the pieces, and which pieces each word is the mean of (questions, words, pieces).

    The questions have the same numbers of pieces and of words.
    """
    words = np.array([question.words for question in questions])
    shares = (np.arange(questions[0].word_count)[:, None] == words[:, None, :]).astype(np.float32)
    shares /= shares.sum(axis=2, keepdims=True)
    return {"pieces": np.array([question.ids for question in questions]), "shares": shares}


def groups_of_a_length(word_counts: Sequence[int]) -> list[list[int]]:
    """The numbers of questions that are searched together.

    >>> groups_of_a_length([3, 12, 8, 9])
    [[0, 2], [1, 3]]
    """
    return _groups(map(_padded, word_counts))


def _groups(keys: Iterable[Hashable]) -> list[list[int]]:
    """The numbers of those that have the same key."""
    groups: dict[Hashable, list[int]] = {}
    for number, key in enumerate(keys):
        groups.setdefault(key, []).append(number)
    return list(groups.values())


def _padded(words: int) -> int:
    return -(-words // _WORDS_OF_A_STRIDE) * _WORDS_OF_A_STRIDE


class Seq2SeqNetwork:
    """From the pieces of questions to a state that the search begins with."""

    def __init__(self, folder: Path, tokens: int, unknown: int) -> None:
        """``tokens`` is the size of the vocabulary, and a copied word that is not in it is read as ``unknown``."""
        self._encoder = open_session(folder / "encoder.onnx")
        self._step = open_session(folder / "step.onnx")
        self._tokens, self._unknown = tokens, unknown
        self._results = [each.name for each in self._encoder.get_outputs()]

    def begin(
        self, questions: Sequence[PieceIds], source_ids: Sequence[Sequence[int]]
    ) -> tuple[DecoderState, list[Array]]:
        """The state of questions of one group before the first token, and of each the states of its words.

        ``source_ids`` has the id of each word; equal words have equal ids, and words that are not in the vocabulary
        have ids beyond it. The state has room for one hypothesis a question.
        """
        count, words = len(questions), _padded(len(source_ids[0]))
        tables: dict[str, Array] = {}
        gates: list[dict[int, Array]] = [{}] * count
        states: list[Array] = [np.zeros((0, 0), dtype=np.float32)] * count
        for group in _groups((len(question.ids), question.word_count) for question in questions):
            found = self._encode([questions[number] for number in group], [source_ids[number] for number in group])
            for number, word_gates in zip(group, found.pop("word_gates"), strict=True):
                # Equal words have the same gates, so which of them is found does not matter.
                gates[number] = dict(zip(source_ids[number], word_gates, strict=True))
            # A bundle without a ranker may not have them.
            for number, word_states in zip(group, found.pop("words", ()), strict=False):
                states[number] = word_states
            for name, values in found.items():
                rows, columns = values.shape[1:]
                if name not in tables:
                    shape = (1, columns) if name == "state" else (rows, words)
                    shape = (words, columns) if name.startswith("contexts") else shape
                    tables[name] = np.zeros((count, *shape), dtype=np.float32)
                tables[name][group, :rows, :columns] = values
        tables["padding"] = np.full((count, 1, words), -np.inf, dtype=np.float32)
        tables["targets"] = np.zeros((count, words, self._tokens + words), dtype=np.float32)
        for number, ids in enumerate(source_ids):
            tables["padding"][number, 0, : len(ids)] = 0.0
            tables["targets"][number, np.arange(len(ids)), ids] = 1.0
        numbers, state = np.arange(count), tables.pop("state")[:, 0]
        shared = {"generated": (np.arange(self._tokens + words) < self._tokens).astype(np.float32)}
        return DecoderState(self, shared, tables, gates, 1, numbers, numbers, state), states

    def _encode(self, questions: Sequence[PieceIds], source_ids: Sequence[Sequence[int]]) -> dict[str, Array]:
        ids = np.array(source_ids)
        same = (ids[:, :, None] == ids[:, None, :]).astype(np.float32)
        same /= same.sum(axis=2, keepdims=True)
        results = self._encoder.run(None, {**encoder_inputs(questions), "same": same})
        return dict(zip(self._results, results, strict=True))

    def step(self, given: dict[str, npt.NDArray[Any]], tokens: TokenIds) -> tuple[npt.NDArray[np.int64], Array, Array]:
        """The most probable next tokens, their log probabilities, and the next state."""
        known = np.where(tokens < self._tokens, tokens, self._unknown)
        logarithms, best, state = self._step.run(None, {**given, "tokens": known})
        return best, logarithms, state


@dataclass(frozen=True, slots=True)
class DecoderState:
    """The questions and their hypotheses; see :class:`~qdecomp.parsers.search.SearchState`.

    Each hypothesis has a place, and the row of the state that it continues.
    """

    network: Seq2SeqNetwork
    shared: dict[str, Array]
    """What is the same for all questions."""
    tables: dict[str, Array]
    """What the steps look up; the first axis is the questions."""
    word_gates: list[dict[int, Array]]
    """For each question, what reading a word adds to the first gates, by the word's id."""
    width: int
    places: TokenIds
    parents: TokenIds
    state: Array

    def of_width(self, width: int) -> DecoderState:
        """The state before the first token with room for so many hypotheses a question."""
        return replace(self, width=width, places=self.parents * width)

    def next_tokens(
        self, tokens: TokenIds, forbidden: Sequence[TokenIds], count: int
    ) -> tuple[NextTokens, DecoderState]:
        """The most probable next tokens."""
        questions, ranks = np.divmod(self.places, self.width)
        rows = np.arange(len(self.places))
        places = np.zeros((len(self.word_gates), self.width), dtype=np.int64)
        places.reshape(-1)[self.places] = rows
        allowed = np.ones((*places.shape, self.tables["targets"].shape[2]), dtype=np.float32)
        copied = np.zeros((len(rows), next(iter(self.word_gates[0].values())).shape[0]), dtype=np.float32)
        asked = zip(questions.tolist(), ranks.tolist(), tokens.tolist(), forbidden, strict=True)
        for row, (question, rank, token, ids) in enumerate(asked):
            allowed[question, rank, ids] = 0.0
            if (gates := self.word_gates[question].get(token)) is not None:
                copied[row] = gates
        given: dict[str, npt.NDArray[Any]] = {
            **self.shared,
            **self.tables,
            "state": self.state,
            "parents": self.parents,
            "copied": copied,
            "slots": self.places,
            "places": places,
            "allowed": allowed,
            "count": np.array([min(count, allowed.shape[2])]),
        }
        best, logarithms, state = self.network.step(given, tokens)
        found = NextTokens(*(each.reshape(-1, each.shape[2])[self.places].tolist() for each in (best, logarithms)))
        return found, self._with(self.places, rows, state)

    def follow(self, parents: TokenIds, places: TokenIds) -> DecoderState:
        """The state of hypotheses at these places."""
        return self._with(places, parents, self.state)

    def _with(self, places: TokenIds, parents: TokenIds, state: Array) -> DecoderState:
        return DecoderState(self.network, self.shared, self.tables, self.word_gates, self.width, places, parents, state)

    def select(self, questions: TokenIds) -> DecoderState:
        """The state of these questions only."""
        numbers, ranks = np.divmod(self.places, self.width)
        return replace(
            self,
            tables={name: table[questions] for name, table in self.tables.items()},
            word_gates=[self.word_gates[number] for number in questions.tolist()],
            places=np.searchsorted(questions, numbers) * self.width + ranks,
        )
