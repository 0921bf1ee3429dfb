"""A world in which two decompositions differ, for people to read."""

from __future__ import annotations

from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

import numpy as np

from qdecomp.evaluation.metrics.lf_eq.interpreter import Interpreter
from qdecomp.evaluation.metrics.lf_eq.step_values import Many, Number, NumberOfEach, Things, Truth, Value
from qdecomp.evaluation.metrics.lf_eq.worlds import AnyArray, members, size

__all__ = ["WorldEvidence", "describe_world"]

_NOTHING = "none"


@dataclass(frozen=True, slots=True)
class WorldEvidence:
    """What the words mean in one world, and what each step is there."""

    words: tuple[tuple[str, str], ...]
    prediction: tuple[tuple[str, str], ...]
    gold: tuple[tuple[str, str], ...]

    def to_json(self) -> dict[str, Any]:
        """A value for ``json.dumps``."""
        return {
            "words": dict(self.words),
            "prediction": [list(row) for row in self.prediction],
            "gold": [list(row) for row in self.gold],
        }

    def __str__(self) -> str:
        parts = (("words", self.words), ("prediction", self.prediction), ("gold", self.gold))
        width = max(len(name) for _, rows in parts for name, _ in rows)
        lines = []
        for title, rows in parts:
            lines.append(title)
            lines.extend(f"  {name:<{width}}  {meaning}" for name, meaning in rows)
        return "\n".join(lines)


def describe_world(prediction: Interpreter, gold: Interpreter, worlds: AnyArray) -> WorldEvidence:
    """Describe the smallest of some worlds: the one where words mean the fewest things."""
    all_words = np.stack(list(gold.worlds.words.values())) if gold.worlds.words else np.zeros((1, gold.worlds.count, 1))
    totals = size(all_words.astype(np.uint8))[:, worlds, 0].sum(0)
    world = int(worlds[int(np.argmin(totals))])
    return WorldEvidence(_words(gold, world), _steps(prediction, world), _steps(gold, world))


def _words(run: Interpreter, world: int) -> tuple[tuple[str, str], ...]:
    rows = [
        (word, _names(bits[world, 0]))
        for word, bits in run.worlds.words.items()
        if word in run.vocabulary.describing or run.merge_projections
    ]
    for name, ties in run.worlds.relations.items():
        pairs = [
            f"{_names(ties[world, place])} of {ascii_uppercase[place]}"
            for place in range(ties.shape[1])
            if ties[world, place]
        ]
        rows.append((" ".join(sorted(name)) + " (relation)" if name else "of (relation)", "; ".join(pairs) or _NOTHING))
    values = ", ".join(f"{ascii_uppercase[place]} {value:g}" for place, value in enumerate(run.worlds.values[world]))
    rows.append(("value", values))
    rows += [
        (f"{number:g} (number)", f"{drawn[world, 0]:g}")
        for number, drawn in run.worlds.numbers.items()
        if number != drawn[world, 0]
    ]
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
