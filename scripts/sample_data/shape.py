"""A shape is a question and its decomposition with gaps; filling the gaps makes rows."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import yaml

T = TypeVar("T")

_SLOT = re.compile(r"\{(\w+)\}")
_NUMBERED = re.compile(r"_\d+$")


@dataclass(frozen=True, slots=True)
class Shape:
    """Question wordings and steps that share gaps such as ``{city}``.

    ``steps`` has a line per step: the operator, then the step's text. ``cases`` is a table of words that belong
    together: its first line names the gaps, and every further line fills them, with ``|`` between the columns. A gap
    that is not a column is filled from the source's word lists: ``{city}`` and ``{city_2}`` take different words of the
    list ``city``.
    """

    wordings: tuple[str, ...]
    steps: str
    cases: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """The shapes that look like one of Break's sources, with the word lists that fill them."""

    name: str
    shapes: tuple[Shape, ...]
    words: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Row:
    """A question, its decomposition in Break's text form, and the operator of each step."""

    question: str
    decomposition: str
    operators: tuple[str, ...]


def read_source(path: Path) -> Source:
    """The source that a YAML file with shapes and word lists describes; the file's name in capitals is its name."""
    values = yaml.safe_load(path.read_text(encoding="utf-8"))
    shapes = tuple(Shape(**{**shape, "wordings": tuple(shape["wordings"])}) for shape in values["shapes"])
    return Source(path.stem.upper(), shapes, values["words"])


def rows_of(shape: Shape, words: Mapping[str, Sequence[str]], count: int, rng: random.Random) -> Iterator[Row]:
    """Fill a shape ``count`` times; wordings, cases and words take turns, so that few combinations occur twice."""
    wordings = _shuffled(shape.wordings, rng)
    cases = _shuffled(_table(shape.cases), rng)
    text = " ".join((*shape.wordings, shape.steps))
    listed = sorted({_list_name(slot) for slot in _SLOT.findall(text) if slot not in cases[0]})
    lists = {name: _shuffled(words[name], rng) for name in listed}
    for turn in range(count):
        values = {**_draw(text, lists, turn), **cases[turn % len(cases)]}
        lines = [line.split(maxsplit=1) for line in shape.steps.strip().splitlines()]
        yield Row(
            question=wordings[turn % len(wordings)].format(**values),
            decomposition=" ;".join(f"return {step.format(**values)}" for _, step in lines),
            operators=tuple(operator for operator, _ in lines),
        )


def _shuffled(values: Sequence[T], rng: random.Random) -> list[T]:
    # Of random's methods, only random() promises the same numbers on every version of Python.
    return [value for _, value in sorted(((rng.random(), value) for value in values), key=lambda pair: pair[0])]


def _table(text: str) -> list[dict[str, str]]:
    rows = [[cell.strip() for cell in line.split("|")] for line in text.strip().splitlines()]
    return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]] or [{}]


def _list_name(slot: str) -> str:
    return _NUMBERED.sub("", slot)


def _draw(text: str, lists: Mapping[str, Sequence[str]], turn: int) -> dict[str, str]:
    values = {}
    for name, words in lists.items():
        slots = sorted({slot for slot in _SLOT.findall(text) if _list_name(slot) == name})
        if len(slots) > len(words):
            raise ValueError(f"the list {name!r} is too short for {slots}")
        for offset, slot in enumerate(slots):
            values[slot] = words[(turn * len(slots) + offset) % len(words)]
    return values
