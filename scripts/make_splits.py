"""Split Break's training rows for experiments: nested subsets, all sources but one, or held-out rows.

    python scripts/make_splits.py subsets --input train.csv --output splits/          # 1, 5, 10, 20, 50 and 100 percent
    python scripts/make_splits.py leave-one-out --input train.csv --output splits/    # a folder for each source
    python scripts/make_splits.py holdout --input train.csv --output splits/          # fit.csv and holdout.csv
    python scripts/make_splits.py halves --input train.csv --output splits/           # half_0.csv and half_1.csv

Every split depends only on the rows and the seed.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Sequence
from pathlib import Path

import click
from break_rows import read_rows, write_rows
from script_errors import run_script

from qdecomp.data_structures.errors import DataError
from qdecomp.files import source_of

PERCENTAGES = (1, 5, 10, 20, 50, 100)
SOURCES = ("ATIS", "CLEVR", "COMQA", "CWQ", "DROP", "GEO", "NLVR2", "SPIDER")
_WORDS = re.compile(r"[a-z0-9]+")

Rows = list[dict[str, str]]


def subsets(rows: Rows, percentages: Sequence[int], seed: int) -> dict[int, Rows]:
    """Nested subsets in which every source keeps its share, and has at least one row; in the order of the input."""
    shuffled: dict[str, list[int]] = {}
    for number, row in enumerate(rows):
        shuffled.setdefault(source_of(row["question_id"]), []).append(number)
    for source, numbers in shuffled.items():
        random.Random(f"{seed} {source}").shuffle(numbers)
    chosen = {
        percentage: {
            number
            for numbers in shuffled.values()
            for number in numbers[: max(1, round(len(numbers) * percentage / 100))]
        }
        for percentage in percentages
    }
    return {
        percentage: [row for number, row in enumerate(rows) if number in kept] for percentage, kept in chosen.items()
    }


def hold_out(rows: Rows, one_of: int, salt: str = "") -> tuple[Rows, Rows]:
    """Rows to train on and about one in ``one_of`` rows to hold out, chosen by the question's words.

    So a question that occurs twice, with other capitals or punctuation, is on one side only.
    """
    parts: tuple[Rows, Rows] = ([], [])
    for row in rows:
        words = salt + " ".join(_WORDS.findall(row["question_text"].lower()))
        number = int(hashlib.sha256(words.encode()).hexdigest(), 16)
        parts[number % one_of == 0].append(row)
    return parts


@click.group(help=__doc__)
def main() -> None:
    """Split Break's training rows for experiments."""


_input = click.option("--input", "source", type=click.Path(path_type=Path), required=True, help="Break's CSV.")
_output = click.option("--output", type=click.Path(file_okay=False, path_type=Path), required=True, help="A folder.")


@main.command("subsets")
@_input
@_output
@click.option("--seed", type=int, default=7, show_default=True)
def subsets_command(source: Path, output: Path, seed: int) -> None:
    """Write nested subsets, stratified by source: train_1.csv to train_100.csv."""
    rows = read_rows(source)
    for percentage, subset in subsets(rows, PERCENTAGES, seed).items():
        write_rows(output / f"train_{percentage}.csv", subset, source)
        click.echo(f"{percentage}%: {len(subset)} of {len(rows)} rows")


@main.command("leave-one-out")
@_input
@_output
@click.option("--source", "sources", multiple=True, default=SOURCES, show_default=True, help="Leave out only these.")
def leave_one_out_command(source: Path, output: Path, sources: tuple[str, ...]) -> None:
    """Write a folder for each source: train.csv without its rows, left_out.csv with them."""
    rows = read_rows(source)
    found = {source_of(row["question_id"]) for row in rows}
    if missing := [name for name in sources if name not in found]:
        raise DataError(f"{source} has no rows of {', '.join(missing)}; it has {', '.join(sorted(found))}")
    for name in sources:
        kept, left_out = (
            [row for row in rows if (source_of(row["question_id"]) == name) is out] for out in (False, True)
        )
        write_rows(output / name / "train.csv", kept, source)
        write_rows(output / name / "left_out.csv", left_out, source)
        click.echo(f"without {name}: {len(kept)} of {len(rows)} rows")


@main.command("holdout")
@_input
@_output
@click.option(
    "--one-of", type=click.IntRange(2), default=30, show_default=True, help="Hold out about one row in this many."
)
def holdout_command(source: Path, output: Path, one_of: int) -> None:
    """Write fit.csv to train on and holdout.csv to calibrate on."""
    fit, held_out = hold_out(read_rows(source), one_of)
    write_rows(output / "fit.csv", fit, source)
    write_rows(output / "holdout.csv", held_out, source)
    click.echo(f"{len(fit)} rows to train on, {len(held_out)} held out")


@main.command("halves")
@_input
@_output
def halves_command(source: Path, output: Path) -> None:
    """Write half_0.csv and half_1.csv; a parser of one half can parse the other as rows that it does not know."""
    parts = hold_out(read_rows(source), 2, "half ")
    for number, rows in enumerate(reversed(parts)):
        write_rows(output / f"half_{number}.csv", rows, source)
        click.echo(f"half_{number}.csv: {len(rows)} rows")


if __name__ == "__main__":
    run_script(main)
