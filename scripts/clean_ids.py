"""Print the ids of those rows of Break's dev set on which the bundled parser was neither trained nor tuned.

    python scripts/clean_ids.py dev.csv > clean.txt
    python scripts/clean_ids.py dev.csv --part development     # those by which its settings were chosen

Half of Break's official dev set was trained on. Which rows, a hash of the question's words decides.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import click
from script_errors import run_script

from qdecomp.files import read_break_csv

PARTS = {"clean": range(30), "development": range(30, 50), "training": range(50, 100)}
"""The numbers from 0 to 99 of the questions of each part."""
_NO_WORDS = re.compile(r"\W+")


def number_of(question: str) -> int:
    """The number from 0 to 99 that decides to which part a question belongs.

    >>> number_of("How many rivers?") == number_of("how many rivers ? ")
    True
    """
    words = _NO_WORDS.sub(" ", question.lower()).strip()
    return int(hashlib.sha256(words.encode()).hexdigest(), 16) % 100


@click.command(help=__doc__)
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--part", type=click.Choice(list(PARTS)), default="clean", show_default=True, help="Which rows.")
def main(path: Path, part: str) -> None:
    """Print the ids of a part, a line each, and how many they are to standard error."""
    examples = read_break_csv(path)
    ids = [example.question_id for example in examples if number_of(example.question) in PARTS[part]]
    for question_id in ids:
        click.echo(question_id)
    click.echo(f"{len(ids):,} of {len(examples):,} rows: {part}", err=True)


if __name__ == "__main__":
    run_script(main)
