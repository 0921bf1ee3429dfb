"""Write the sample set of ``data/`` from the tables in ``scripts/sample_data``; the same bytes on every run.

A table has shapes of questions that look like those of one of Break's sources. A shape has wordings of a question and
the steps of its decomposition, a line for each: the operator, then the step's text. Both have gaps such as ``{city}``.
``cases`` is a table of words that belong together: its first line names the gaps, and every further line fills them,
with ``|`` between the columns. Other gaps are filled from the source's word lists: ``{city}`` and ``{city_2}`` take
different words of the list ``city``.
"""

from __future__ import annotations

import csv
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click
import yaml
from break_rows import COLUMNS
from sample_data.broken import BROKEN_ROWS

from qdecomp.files import write_text_atomically

T = TypeVar("T")

_SEED = 2021
_TRAIN_ROWS_PER_SHAPE = 5
_DEV_ROWS_PER_SHAPE = 1
_SOURCES = ("atis", "geo", "spider", "academic", "clevr", "nlvr2", "drop", "comqa", "cwq")
_SLOT = re.compile(r"\{(\w+)\}")
_NUMBERED = re.compile(r"_\d+$")


def make_splits() -> dict[str, list[list[str]]]:
    """The rows of ``train`` and ``dev``: every shape has its first turn before any has its second."""
    turns = _TRAIN_ROWS_PER_SHAPE + _DEV_ROWS_PER_SHAPE
    filled = {}
    for source in _SOURCES:
        table = yaml.safe_load((Path(__file__).parent / "sample_data" / f"{source}.yaml").read_text(encoding="utf-8"))
        name = source.upper()
        rng = random.Random(f"{_SEED} {name}")
        filled[name] = [list(_rows_of(shape, table["words"], turns, rng)) for shape in table["shapes"]]
    splits: dict[str, list[list[str]]] = {"train": [], "dev": []}
    for turn in range(turns):
        split = "train" if turn < _TRAIN_ROWS_PER_SHAPE else "dev"
        for name, shapes in filled.items():
            for place, rows in enumerate(shapes, start=1):
                splits[split].append([f"{name}_sample_{turn * len(shapes) + place}", *rows[turn], split])
    return splits


def _rows_of(
    shape: Mapping[str, Any], words: Mapping[str, Sequence[str]], count: int, rng: random.Random
) -> Iterator[tuple[str, str, str]]:
    """Question, decomposition and operators; wordings, cases and words take turns, so that few combinations recur."""
    wordings = _shuffled(shape["wordings"], rng)
    cases = _shuffled(_table(shape.get("cases", "")), rng)
    text = " ".join((*shape["wordings"], shape["steps"]))
    listed = sorted({_list_name(slot) for slot in _SLOT.findall(text) if slot not in cases[0]})
    lists = {name: _shuffled(words[name], rng) for name in listed}
    steps = [line.split(maxsplit=1) for line in shape["steps"].strip().splitlines()]
    for turn in range(count):
        values = {**_draw(text, lists, turn), **cases[turn % len(cases)]}
        question = wordings[turn % len(wordings)].format(**values)
        decomposition = " ;".join(f"return {step.format(**values)}" for _, step in steps)
        yield question, decomposition, str([operator for operator, _ in steps])


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


def _write_csv(path: Path, rows: Iterable[Sequence[str]]) -> None:
    with write_text_atomically(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows)


@click.command(help=__doc__)
@click.option("--output", type=click.Path(path_type=Path, file_okay=False), default=Path("data"), show_default=True)
def main(output: Path) -> None:
    """Write train.csv, dev.csv and broken.csv into a folder."""
    for split, rows in {**make_splits(), "broken": BROKEN_ROWS}.items():
        _write_csv(output / f"{split}.csv", rows)


if __name__ == "__main__":
    main()
