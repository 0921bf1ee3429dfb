"""Choose the examples that come with the package, ``qdecomp/parsers/examples.csv``, from ``data/asked_train.csv``.

Of each sequence of operators, a few rows are taken, so that the examples show as many kinds of plans as possible.
"""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import click
from break_rows import read_rows, write_rows
from script_errors import run_script

_ROOT = Path(__file__).resolve().parents[1]


@click.command()
@click.option("--input", "source", type=click.Path(path_type=Path), default=_ROOT / "data" / "asked_train.csv")
@click.option("--output", type=click.Path(path_type=Path), default=_ROOT / "qdecomp" / "parsers" / "examples.csv")
@click.option("--rows", default=1200, show_default=True, help="How many rows to choose.")
@click.option("--of-a-kind", default=12, show_default=True, help="The most rows with the same operators.")
@click.option("--seed", default=0, show_default=True)
def main(source: Path, output: Path, rows: int, of_a_kind: int, seed: int) -> None:
    """Write the chosen rows in their order."""
    found = read_rows(source)
    kinds: Counter[str] = Counter()
    chosen = []
    for number in random.Random(seed).sample(range(len(found)), len(found)):
        kind = found[number]["operators"]
        kinds[kind] += 1
        if kinds[kind] <= of_a_kind and len(chosen) < rows:
            chosen.append(number)
    write_rows(output, (found[number] for number in sorted(chosen)), source)


if __name__ == "__main__":
    run_script(main)
