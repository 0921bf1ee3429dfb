"""The networks of a bundled parser, run by onnxruntime: encoder, decoder, and a ranker of the plans of a beam.

They compute with quantised rows whose sums are exact, or in shapes that only the question determines:
:mod:`qdecomp.training.onnx_export` makes the graphs. So an answer does not depend on the other questions of a batch, on
the number of threads or on the process.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from qdecomp.data_structures.conversion.target_tokens import STEP_SEPARATOR
from qdecomp.data_structures.errors import DataError, missing_extra
from qdecomp.parsers.pieces import PieceIds
from qdecomp.parsers.plan_rules import TokenIds
from qdecomp.parsers.search import Hypothesis, NextTokens

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
    return _groups([_padded(count) for count in word_counts])


def _groups(keys: Sequence[Hashable]) -> list[list[int]]:
    """The numbers of those that have the same key."""
    return [[number for number, each in enumerate(keys) if each == key] for key in dict.fromkeys(keys)]


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
        for group in _groups([(len(question.ids), question.word_count) for question in questions]):
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
        return found, replace(self, parents=rows, state=state)

    def follow(self, parents: TokenIds, places: TokenIds) -> DecoderState:
        """The state of hypotheses at these places."""
        return replace(self, places=places, parents=parents)

    def select(self, questions: TokenIds) -> DecoderState:
        """The state of these questions only."""
        numbers, ranks = np.divmod(self.places, self.width)
        return replace(
            self,
            tables={name: table[questions] for name, table in self.tables.items()},
            word_gates=[self.word_gates[number] for number in questions.tolist()],
            places=np.searchsorted(questions, numbers) * self.width + ranks,
        )


# The ranker.

RANKER_GRAPH = "ranker.onnx"
MOST_TOKENS = 160
"""A plan is read up to this many tokens."""
MOST_STEPS = 24
"""Steps after this one share its embedding."""
MOST_USES = 2
"""A word counts as used at most this often."""
PLAN_FEATURES = 4

Inputs = dict[str, npt.NDArray[Any]]


def ranker_inputs(
    source_ids: Sequence[int], hypotheses: Sequence[Hypothesis], tokens: int, unknown: int, separator: int
) -> Inputs:
    """What the ranker reads of the plans for one question, whose words have ``source_ids``.

    ``tokens`` is the size of the vocabulary; a word beyond it is read as ``unknown``. The arrays are padded to the
    longest plan, and their shapes depend on this question only.
    """
    plans = [hypothesis.tokens[:MOST_TOKENS] for hypothesis in hypotheses]
    count, longest = len(plans), max(1, *map(len, plans))
    ids = np.full((count, longest), -1, dtype=np.int64)
    sure = np.zeros((count, longest, 2), dtype=np.float32)
    for row, (plan, hypothesis) in enumerate(zip(plans, hypotheses, strict=True)):
        ids[row, : len(plan)] = plan
        logarithms = np.maximum(hypothesis.logarithms[: len(plan)], -10.0)
        sure[row, : len(plan), 0] = logarithms / 5
        sure[row, : len(plan), 1] = np.exp(logarithms)
    steps = np.minimum(np.cumsum(ids == separator, axis=1), MOST_STEPS - 1)
    same = (ids[:, :, None] == np.asarray(source_ids)[None, None, :]).astype(np.float32)
    uses = np.minimum(same.sum(axis=1), MOST_USES).astype(np.int64)
    same /= np.maximum(same.sum(axis=2, keepdims=True), 1)
    written = ids >= 0
    return {
        "tokens": np.where(written & (ids < tokens), ids, unknown),
        "steps": steps,
        "sure": sure,
        "places": same,
        "uses": uses,
        "written": written.astype(np.float32),
        "plans": np.array([_plan_features(each, hypotheses[0].score) for each in hypotheses], dtype=np.float32),
    }


def _plan_features(hypothesis: Hypothesis, best: float) -> tuple[float, ...]:
    """What the parser thinks of the plan as a whole; there are ``PLAN_FEATURES`` numbers."""
    score = max(hypothesis.score, -30.0)
    return score / 5, exp(score), max(hypothesis.score - best, -10.0) / 2, len(hypothesis.tokens) / 30


class Ranker:
    """How likely each plan of a beam is right, given the question as the parser's encoder has read it.

    A beam search finds the right plan more often than it puts it first. The ranker is a small transformer over a
    sequence of a summary, the words of the question and the tokens of one plan. A token is its embedding in the
    vocabulary plus, if the question has it, the mean state of its words; with it go its step and how sure the parser
    was of it. A word goes with how often the plan has it, so a word that is left out can be seen. The state of the
    summary becomes the log-odds that the plan is right. ``scripts/train_ranker.py`` trains one.
    """

    def __init__(self, folder: Path, tokens: Sequence[str], unknown: str) -> None:
        self._session = open_session(folder / RANKER_GRAPH)
        self._tokens, self._unknown = len(tokens), tokens.index(unknown)
        self._separator = tokens.index(STEP_SEPARATOR)

    def __call__(
        self, words: npt.NDArray[np.float32], source_ids: Sequence[int], hypotheses: Sequence[Hypothesis]
    ) -> list[float]:
        """The log-odds of each hypothesis for a question whose words have these states (words, size)."""
        given: Mapping[str, npt.NDArray[Any]] = ranker_inputs(
            source_ids, hypotheses, self._tokens, self._unknown, self._separator
        )
        (logits,) = self._session.run(None, {"words": words, **given})
        return [float(each) for each in logits]
