"""A ranker: how likely each plan of a beam is right, given the question as the parser's encoder has read it.

A beam search finds the right plan more often than it puts it first. The ranker is a small transformer over a sequence
of a summary, the words of the question and the tokens of one plan. A token is its embedding in the vocabulary plus, if
the question has it, the mean state of its words; with it go its step and how sure the parser was of it. A word goes
with how often the plan has it, so a word that is left out can be seen. The state of the summary becomes the log-odds
that the plan is right. ``scripts/train_ranker.py`` trains one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from qdecomp.data_structures.conversion.target_tokens import STEP_SEPARATOR
from qdecomp.parsers.network import open_session
from qdecomp.parsers.search import Hypothesis

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
    """The network of a bundle that has one."""

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
