"""LF-Eq, equal in meaning: both decompositions are run in random worlds, and must compute the same in all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from string import ascii_uppercase
from typing import Any

import numpy as np

from qdecomp.data_structures.errors import ErrorText, QDecompError, Side
from qdecomp.data_structures.lf_em import AnyDecomposition
from qdecomp.data_structures.operators import Operator
from qdecomp.evaluation.metrics import LF_EQ_VERSION, MetricResult
from qdecomp.evaluation.metrics.lf_eq.interpreter import Interpreter
from qdecomp.evaluation.metrics.lf_eq.step_reading import ComputedPlan, read_plan
from qdecomp.evaluation.metrics.lf_eq.worlds import (
    AnyArray,
    Many,
    Number,
    NumberOfEach,
    Things,
    Truth,
    Value,
    Worlds,
    draw,
    members,
    size,
    vocabulary,
)

__all__ = ["LF_EQ_VERSION", "LfEqResult", "WorldEvidence", "lf_eq", "score_lf_eq"]

# Most differences show in the first few worlds; sides that never differ go through all of them.
_BATCHES = (24, 104, 384)
_MORE_BATCHES = (512, 1024)
_ENOUGH = 16
"""How many worlds must have an answer other than the commonest one: if all answers are equal, nothing is proved."""

# Characters of a question and a decomposition up to which their plan is remembered: twice what Break has.
_LONGEST_REMEMBERED = 1200

_NOTHING_PROVED = "both give the same answer in (nearly) all worlds, which proves nothing"
_NOTHING = "none"


@dataclass(frozen=True, slots=True)
class WorldEvidence:
    """What the words mean in one world, and what each step is there."""

    words: tuple[tuple[str, str], ...]
    prediction: tuple[tuple[str, str], ...]
    gold: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        parts = {"words": self.words, "prediction": self.prediction, "gold": self.gold}
        width = max(len(name) for rows in parts.values() for name, _ in rows)
        lines = [[title, *(f"  {name:<{width}}  {meaning}" for name, meaning in rows)] for title, rows in parts.items()]
        return "\n".join(chain.from_iterable(lines))


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
    side: Side
    for side, value in (("prediction", prediction), ("gold", gold)):
        try:
            plans.append(_plan(question, value))
        except QDecompError as error:
            errors.append(error.of(side))
    reason = ErrorText.of(*errors) if errors else None
    # An error, its traceback and this call would keep each other until the garbage collector comes.
    del errors
    if reason is not None:
        return LfEqResult(False, reason)
    if plans[0] == plans[1]:
        return LfEqResult(True)
    return _run((plans[0], plans[1]), seed)


def score_lf_eq(question: str, prediction: str, gold: str) -> MetricResult:
    """Whether both compute the same; ``world`` in the details is a world in which they do not.

    >>> score_lf_eq("How many cubes are there?", "return cubes", "cubes; number of #1").details["world"]["gold"][1][0]
    '2. number of #1'
    """
    result = lf_eq(question, prediction, gold)
    details: dict[str, Any] = {"world": None, "worlds": result.worlds}
    if world := result.evidence:
        rows = {"prediction": [*map(list, world.prediction)], "gold": [*map(list, world.gold)]}
        details |= {"world": {"words": dict(world.words), **rows}, "evidence": tuple(str(world).splitlines())}
    return MetricResult(float(result.verdict), result.error, details)


def _plan(question: str, decomposition: AnyDecomposition) -> ComputedPlan:
    if isinstance(decomposition, str) and len(question) + len(decomposition) <= _LONGEST_REMEMBERED:
        return _remembered_plan(question, decomposition)
    return read_plan(question, decomposition)


# The gold side, for the next system that is compared with it.
_remembered_plan = lru_cache(maxsize=1024)(read_plan)


def _run(plans: tuple[ComputedPlan, ComputedPlan], seed: int) -> LfEqResult:
    """Two sides are equal if they are equal in one of the two readings of a projection."""
    projects = any(step.operator is Operator.PROJECT for plan in plans for step in plan.steps)
    result = _run_reading(plans, seed, merge_projections=True)
    return _run_reading(plans, seed, merge_projections=False) if projects and not result.verdict else result


def _run_reading(plans: tuple[ComputedPlan, ComputedPlan], seed: int, merge_projections: bool) -> LfEqResult:
    seen: list[AnyArray] = []
    count = 0
    for worlds in _batches(plans, seed, seen):
        prediction, gold = (Interpreter(plan, worlds, merge_projections=merge_projections) for plan in plans)
        predicted, wanted = prediction.answer()[:, 0], gold.answer()[:, 0]
        different = np.flatnonzero(predicted != wanted)
        count += worlds.count
        if different.size:
            return LfEqResult(False, None, _describe_world(prediction, gold, different), count)
        seen.append(wanted)
    is_proved = _is_proved(seen)
    return LfEqResult(is_proved, None if is_proved else _NOTHING_PROVED, None, count)


def _batches(plans: tuple[ComputedPlan, ComputedPlan], seed: int, seen: list[AnyArray]) -> Iterator[Worlds]:
    """Worlds in a few batches, and more of them as long as the answers prove nothing."""
    words, generator = vocabulary(plans), np.random.default_rng(seed)
    for count in _BATCHES:
        yield draw(words, count, generator)
    for count in _MORE_BATCHES:
        if not _is_proved(seen):
            yield draw(words, count, generator, extreme=True)


def _is_proved(seen: list[AnyArray]) -> bool:
    _, counts = np.unique(np.concatenate(seen), return_counts=True)
    return int(counts.sum() - counts.max()) >= _ENOUGH


def _describe_world(prediction: Interpreter, gold: Interpreter, worlds: AnyArray) -> WorldEvidence:
    """Describe the smallest of some worlds: the one where words mean the fewest things."""
    all_words = np.stack(list(gold.worlds.words.values())) if gold.worlds.words else np.zeros((1, gold.worlds.count, 1))
    totals = size(all_words.astype(np.uint8))[:, worlds, 0].sum(0)
    world = int(worlds[int(np.argmin(totals))])
    return WorldEvidence(_words(gold, world), _steps(prediction, world), _steps(gold, world))


def _words(run: Interpreter, world: int) -> tuple[tuple[str, str], ...]:
    worlds = run.worlds
    rows = [
        (word, _names(bits[world, 0]))
        for word, bits in worlds.words.items()
        if word in worlds.vocabulary.describing or run.merge_projections
    ]
    for name, ties in worlds.relations.items():
        pairs = [
            f"{_names(bits)} of {thing}" for thing, bits in zip(ascii_uppercase, ties[world], strict=False) if bits
        ]
        rows.append((" ".join(sorted(name)) + " (relation)" if name else "of (relation)", "; ".join(pairs) or _NOTHING))
    values = zip(ascii_uppercase, worlds.values[world], strict=False)
    rows.append(("value", ", ".join(f"{thing} {value:g}" for thing, value in values)))
    drawn = [(number, each[world, 0]) for number, each in worlds.numbers.items()]
    rows += [(f"{number:g} (number)", f"{value:g}") for number, value in drawn if number != value]
    return tuple(rows)


def _steps(run: Interpreter, world: int) -> tuple[tuple[str, str], ...]:
    return tuple(
        (f"{number}. {step.text}", _text(run.value(number), world))
        for number, step in enumerate(run.plan.steps, start=1)
    )


def _text(value: Value, world: int) -> str:
    match value:
        case Things(bits, _, number, order):
            text = _names(_at(bits, world))
            if number is not None and np.isfinite(_at(number, world)):
                text += f" ({_at(number, world):g})"
            return text if order is None else f"{text}, sorted"
        case Number(numbers):
            return f"{_at(numbers, world):g}"
        case Truth(truths):
            return "yes" if _at(truths, world) else "no"
        case NumberOfEach(keys, numbers):
            inside = np.flatnonzero(members(keys)[min(world, len(keys) - 1), 0])
            return ", ".join(f"{ascii_uppercase[place]}: {numbers[world, place]:g}" for place in inside) or _NOTHING
        case Many(parts):
            return "; ".join(_text(part, world) for part in parts)


def _at(array: AnyArray, world: int) -> Any:
    return array[min(world, len(array) - 1), 0]


def _names(bits: Any) -> str:
    names = [letter for place, letter in enumerate(ascii_uppercase[:8]) if int(bits) >> place & 1]
    return " ".join(names) or _NOTHING
