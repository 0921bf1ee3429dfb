"""The jobs of the graph, each a command that the workflow engine starts: ``python -m experiments.jobs JOB …``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from qdecomp.data_structures.errors import DataError, QDecompError

from . import tables
from .cells import TIMES, Cell, timed_cells
from .figures import draw_figure
from .results import write_result
from .settings import PARSERS, SETTINGS_FILE, SYSTEMS, Settings, System
from .training import ENCODER_FOLDER, make_tiny_encoder, measure_times, overrides_of, predict, train
from .verdicts import add_verdicts, score_cell


@click.group(help=__doc__)
@click.option("--base", type=click.Path(file_okay=False, path_type=Path), required=True, help="The folder of the run.")
@click.pass_context
def main(context: click.Context, base: Path) -> None:
    """Run one job."""
    context.obj = (base.absolute(), Settings.model_validate_json((base / SETTINGS_FILE).read_bytes()))


def _say(what: str) -> None:
    click.echo(f"-- {what}")


@main.command("encoder")
@click.pass_obj
def encoder_job(run: tuple[Path, Settings]) -> None:
    """Make the tiny encoder."""
    base, settings = run
    _say("an encoder with random weights")
    make_tiny_encoder(base / ENCODER_FOLDER, settings.train)


@main.command("train")
@click.argument("parser", type=click.Choice(PARSERS))
@click.argument("split")
@click.argument("seed", type=int)
@click.pass_obj
def train_job(run: tuple[Path, Settings], parser: str, split: str, seed: int) -> None:
    """Train a parser."""
    base, settings = run
    _say(f"training {parser} on {split}, seed {seed}")
    cell = Cell(System(parser, parser, parser), split, seed)
    overrides = overrides_of(parser, split, seed, settings, base)
    train(settings.parsers[parser].config, overrides, base, (base / cell.training).parent)


@main.command("predict")
@click.argument("system", type=click.Choice(list(SYSTEMS)))
@click.argument("split")
@click.argument("name")
@click.pass_obj
def predict_job(run: tuple[Path, Settings], system: str, split: str, name: str) -> None:
    """Predict the decompositions of the development questions, and score them."""
    base, settings = run
    _say(f"predictions of {system} trained on {split}, {name}")
    cell = Cell.named(system, split, name)
    predict(cell, settings, base)
    score_cell(cell, settings, base)


@main.command("times")
@click.argument("systems", nargs=-1)
@click.pass_obj
def times_job(run: tuple[Path, Settings], systems: tuple[str, ...]) -> None:
    """Measure how long the systems take for a question."""
    base, settings = run
    _say(f"time of a question: {', '.join(systems)}")
    cells = [cell for cell in timed_cells(settings) if cell.system.name in systems]
    measure_times(cells, settings, base, base / TIMES)


@main.command("table")
@click.argument("experiment")
@click.pass_obj
def table_job(run: tuple[Path, Settings], experiment: str) -> None:
    """Write the table of an experiment from the existing cells, and draw its figure."""
    base, settings = run
    _say(f"{base / 'tables' / experiment}.md")
    result = getattr(tables, experiment)(settings, base)
    write_result(result, base / "tables")
    draw_figure(result, base / "figures")


@main.command("verdicts")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.pass_obj
def verdicts_job(run: tuple[Path, Settings], file: Path) -> None:
    """Add the verdicts of all cells of this run to a file for ``--verdicts``."""
    base, settings = run
    _say(f"{file}: verdicts of {add_verdicts(file, settings, base)} cells")


if __name__ == "__main__":
    try:
        main()
    except QDecompError as error:
        click.echo(f"experiments: {error}", err=True)
        sys.exit(2 if isinstance(error, DataError) else 1)
