"""Write training questions of kinds that people ask and Break has few of, from the templates in ``scripts/templates``.

    python scripts/fill_templates.py --output templates.csv --rows-per-shape 60

A file of templates is a kind: comparisons with a thing that is named, questions for yes or no, two questions in one,
dates, things chosen by what they have. The output has the columns of Break's CSV, to be appended to training rows. The
source of a row is the kind in capitals, so that ``source_weights`` can say how often such rows are seen. The same seed
gives the same rows.
"""

from __future__ import annotations

import random
from pathlib import Path

import click
from break_rows import COLUMNS, write_rows
from sample_data.shape import Source, read_source, rows_of
from script_errors import run_script

TEMPLATES = Path(__file__).parent / "templates"


def filled(source: Source, rows_per_shape: int, seed: int) -> list[dict[str, str]]:
    """The rows of a kind; a question that comes up twice is left out."""
    chance = random.Random(f"{seed} {source.name}")
    # One at a time, so that any wording can meet any case.
    turns = [(shape, turn) for shape in source.shapes for turn in range(rows_per_shape)]
    rows = [row for shape, _ in turns for row in rows_of(shape, source.words, 1, chance)]
    different = {row.question: row for row in rows}.values()
    return [
        dict(
            zip(
                COLUMNS,
                (f"{source.name}_{number}", row.question, row.decomposition, str(list(row.operators)), "train"),
                strict=True,
            )
        )
        for number, row in enumerate(different, start=1)
    ]


@click.command(help=__doc__)
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), required=True, help="Break's CSV to write.")
@click.option("--kind", "kinds", multiple=True, help="Only these kinds, such as compared.")
@click.option("--rows-per-shape", type=click.IntRange(min=1), default=60, show_default=True)
@click.option("--seed", type=int, default=7, show_default=True)
def main(output: Path, kinds: tuple[str, ...], rows_per_shape: int, seed: int) -> None:
    """Fill the templates and write the rows."""
    paths = {path.stem: path for path in sorted(TEMPLATES.glob("*.yaml"))}
    if unknown := set(kinds) - paths.keys():
        raise click.BadParameter(
            f"there is no kind {min(unknown)!r}; there are {', '.join(paths)}", param_hint="--kind"
        )
    sources = [read_source(paths[kind]) for kind in kinds or paths]
    found = [row for source in sources for row in filled(source, rows_per_shape, seed)]
    write_rows(output, found)
    click.echo(f"{len(found)} rows of {len(sources)} kinds")


if __name__ == "__main__":
    run_script(main)
