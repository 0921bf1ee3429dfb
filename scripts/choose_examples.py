"""Choose the examples that come with the package, ``qdecomp/parsers/examples.csv``, from ``data/asked_train.csv``.

Of each sequence of operators, a few rows are taken, so that the examples show as many kinds of plans as possible.
"""

from __future__ import annotations

import csv
import random
from collections import Counter
from pathlib import Path

import click
from script_errors import run_script

from qdecomp.files import write_text_atomically

_ROOT = Path(__file__).resolve().parents[1]


@click.command()
@click.option("--input", "input_path", type=click.Path(path_type=Path), default=_ROOT / "data" / "asked_train.csv")
@click.option(
    "--output", "output_path", type=click.Path(path_type=Path), default=_ROOT / "qdecomp" / "parsers" / "examples.csv"
)
@click.option("--rows", default=1200, show_default=True, help="How many rows to choose.")
@click.option("--of-a-kind", default=12, show_default=True, help="The most rows with the same operators.")
@click.option("--seed", default=0, show_default=True)
def main(input_path: Path, output_path: Path, rows: int, of_a_kind: int, seed: int) -> None:
    """Write the chosen rows in their order."""
    with input_path.open(encoding="utf-8", newline="") as stream:
        header, *found = csv.reader(stream)
    operators = header.index("operators")
    order = random.Random(seed).sample(range(len(found)), len(found))
    kinds: Counter[str] = Counter()
    chosen = []
    for number in order:
        kinds[found[number][operators]] += 1
        if kinds[found[number][operators]] <= of_a_kind and len(chosen) < rows:
            chosen.append(number)
    with write_text_atomically(output_path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(found[number] for number in sorted(chosen))


if __name__ == "__main__":
    run_script(main)
