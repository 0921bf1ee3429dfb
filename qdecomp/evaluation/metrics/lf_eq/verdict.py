"""Whether two decompositions of a question compute the same in many random worlds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from qdecomp.data_structures.errors import ErrorText, QDecompError, Side
from qdecomp.data_structures.lf_em import AnyDecomposition
from qdecomp.data_structures.operators import Operator
from qdecomp.evaluation.metrics.lf_eq.computations import COMPUTATIONS
from qdecomp.evaluation.metrics.lf_eq.evidence import WorldEvidence, describe_world
from qdecomp.evaluation.metrics.lf_eq.interpreter import Interpreter
from qdecomp.evaluation.metrics.lf_eq.step_reading import ComputedPlan, read_plan
from qdecomp.evaluation.metrics.lf_eq.worlds import AnyArray, Vocabulary, Worlds, draw, vocabulary

__all__ = ["LF_EQ_VERSION", "LfEqResult", "lf_eq"]

LF_EQ_VERSION = "1"
"""Changes whenever a verdict may change."""

# Most differences show in the first few worlds; sides that never differ go through all of them.
_BATCHES = (24, 104, 384)
_MORE_BATCHES = (512, 1024)
_ENOUGH = 16
"""How many worlds must have an answer other than the commonest one: if all answers are equal, nothing is proved."""

_NOTHING_PROVED = "both give the same answer in (nearly) all worlds, which proves nothing"


@dataclass(frozen=True, slots=True)
class LfEqResult:
    """The verdict, a reason if a side has no meaning, and a world in which the sides differ, if there is one."""

    verdict: bool
    error: str | None = None
    evidence: WorldEvidence | None = None
    worlds: int = 0
    """How many worlds the verdict is based on; none if both sides are the same step by step."""

    def __bool__(self) -> bool:
        return self.verdict


def lf_eq(question: str, prediction: AnyDecomposition, gold: AnyDecomposition, *, seed: int = 0) -> LfEqResult:
    """Compare what a predicted and a gold decomposition compute.

    A side that cannot be read, or whose steps have no meaning over sets of things, makes the verdict false and gives
    the reason in ``error``.

    >>> question = "Are there any red cubes?"
    >>> gold = "return cubes ;return #1 that are red ;return number of #2 ;return if #3 is at least one"
    >>> lf_eq(question, "return red cubes ;return if there are any #1", gold).verdict
    True
    >>> lf_eq(question, "return cubes ;return if there are any #1", gold).verdict
    False
    """
    plans: list[ComputedPlan] = []
    errors: list[QDecompError] = []
    sides: tuple[tuple[Side, AnyDecomposition], ...] = (("prediction", prediction), ("gold", gold))
    for side, value in sides:
        try:
            plans.append(_plan(question, value))
        except QDecompError as error:
            errors.append(error.of(side))
    if errors:
        return LfEqResult(False, ErrorText.of(*errors))
    if plans[0] == plans[1]:
        return LfEqResult(True)
    return _run(plans[0], plans[1], seed)


@lru_cache(maxsize=4096)
def _plan(question: str, decomposition: AnyDecomposition) -> ComputedPlan:
    return read_plan(question, decomposition)


def _run(prediction: ComputedPlan, gold: ComputedPlan, seed: int) -> LfEqResult:
    """Two sides are equal if they are equal in one of the two readings of a projection."""
    words = vocabulary((prediction, gold))
    projects = any(step.operator is Operator.PROJECT for plan in (prediction, gold) for step in plan.steps)
    readings = (True, False) if projects else (True,)
    result = LfEqResult(False)
    for merge_projections in readings:
        result = _run_reading(prediction, gold, words, seed, merge_projections)
        if result.verdict:
            break
    return result


def _run_reading(
    prediction: ComputedPlan, gold: ComputedPlan, words: Vocabulary, seed: int, merge_projections: bool
) -> LfEqResult:
    seen: list[AnyArray] = []
    count = 0
    for worlds in _batches(words, seed, seen):
        runs = [
            Interpreter(plan, words, worlds, COMPUTATIONS, merge_projections=merge_projections)
            for plan in (prediction, gold)
        ]
        answers = [run.answer()[:, 0] for run in runs]
        different = np.flatnonzero(answers[0] != answers[1])
        count += worlds.count
        if different.size:
            return LfEqResult(False, None, describe_world(runs[0], runs[1], different), count)
        seen.append(answers[1])
    if not _is_proved(seen):
        return LfEqResult(False, _NOTHING_PROVED, None, count)
    return LfEqResult(True, None, None, count)


def _batches(words: Vocabulary, seed: int, seen: list[AnyArray]) -> Iterator[Worlds]:
    """Worlds in a few batches, and more of them as long as the answers prove nothing."""
    generator = np.random.default_rng(seed)
    for count in _BATCHES:
        yield draw(words, count, generator)
    for count in _MORE_BATCHES:
        if _is_proved(seen):
            return
        yield draw(words, count, generator, extreme=True)


def _is_proved(seen: list[AnyArray]) -> bool:
    _, counts = np.unique(np.concatenate(seen), return_counts=True)
    return int(counts.sum() - counts.max()) >= _ENOUGH
