"""Write the sample set of ``data/`` from the tables in ``scripts/sample_data``; the same bytes on every run."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterable, Sequence
from pathlib import Path

import click
from sample_data import SOURCES
from sample_data.broken import BROKEN_ROWS
from sample_data.questions import QUESTIONS
from sample_data.shape import Row, rows_of

from qdecomp.files import write_text_atomically

SEED = 2021
TRAIN_ROWS_PER_SHAPE = 5
DEV_ROWS_PER_SHAPE = 1
COLUMNS = ("question_id", "question_text", "decomposition", "operators", "split")


def make_splits() -> dict[str, list[list[str]]]:
    """The rows of ``train`` and ``dev``: every shape has its first turn before any has its second."""
    turns = TRAIN_ROWS_PER_SHAPE + DEV_ROWS_PER_SHAPE
    filled: list[tuple[str, list[list[Row]]]] = []
    for source in SOURCES:
        rng = random.Random(f"{SEED} {source.name}")
        filled.append((source.name, [list(rows_of(shape, source.words, turns, rng)) for shape in source.shapes]))
    splits: dict[str, list[list[str]]] = {"train": [], "dev": []}
    for turn in range(turns):
        split = "train" if turn < TRAIN_ROWS_PER_SHAPE else "dev"
        for name, shapes in filled:
            for place, rows in enumerate(shapes, start=1):
                row = rows[turn]
                question_id = f"{name}_sample_{turn * len(shapes) + place}"
                splits[split].append([question_id, row.question, row.decomposition, str(list(row.operators)), split])
    return splits


def write_csv(path: Path, rows: Iterable[Sequence[str]]) -> None:
    """Write Break's columns and the rows, with ``\\n`` as the line end on every platform."""
    with write_text_atomically(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows)


@click.command()
@click.option("--output", type=click.Path(path_type=Path, file_okay=False), default=Path("data"), show_default=True)
def main(output: Path) -> None:
    """Write train.csv, dev.csv, broken.csv and questions.txt into a folder."""
    for split, rows in make_splits().items():
        write_csv(output / f"{split}.csv", rows)
    write_csv(output / "broken.csv", BROKEN_ROWS)
    with write_text_atomically(output / "questions.txt") as stream:
        stream.writelines(f"{question}\n" for question in QUESTIONS)


if __name__ == "__main__":
    main()
