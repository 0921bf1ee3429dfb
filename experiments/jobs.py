"""The jobs of the graph, each a command that the workflow engine starts: ``python -m experiments.jobs JOB …``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import click

from qdecomp.data_structures.errors import DataError, QDecompError

from . import tables
from .cells import HELD_OUT, TIMES, Cell, timed_cells, training_rows
from .figures import draw_figure
from .results import write_result
from .settings import PARSERS, ROOT, SETTINGS_FILE, SYSTEMS, Settings, System
from .training import (
    ENCODER_FOLDER,
    make_tiny_encoder,
    measure_times,
    overrides_of,
    predict,
    run_logged,
    train,
)
from .verdicts import add_verdicts, score_cell


@click.group(help=__doc__)
@click.option("--base", type=click.Path(file_okay=False, path_type=Path), required=True, help="The folder of the run.")
@click.pass_context
def main(context: click.Context, base: Path) -> None:
    """Run one job."""
    context.obj = (base.absolute(), Settings.model_validate_json((base / SETTINGS_FILE).read_bytes()))


def _say(what: str) -> None:
    click.echo(f"-- {what}")


@main.command("hold-out")
@click.pass_obj
def hold_out_job(run: tuple[Path, Settings]) -> None:
    """Hold out training rows to choose weights on."""
    base, settings = run
    _say(f"one training row in {settings.held_out} held out")
    _cut(base, "held_out", "holdout", "--one-of", str(settings.held_out), "--input", str(settings.train))


@main.command("subsets")
@click.argument("seed", type=int)
@click.pass_obj
def subsets_job(run: tuple[Path, Settings], seed: int) -> None:
    """Cut nested subsets of the training rows."""
    base, settings = run
    _say(f"nested subsets of the training rows, seed {seed}")
    _cut(base, f"seed_{seed}", "subsets", "--seed", str(seed), "--input", str(base / training_rows(settings)))


@main.command("leave-out")
@click.argument("source")
@click.pass_obj
def leave_out_job(run: tuple[Path, Settings], source: str) -> None:
    """Cut the rows without a source, to train and to choose weights on, and the development questions of it."""
    base, settings = run
    _say(f"the training rows without {source}, and its development questions")
    cuts = {"without": training_rows(settings), "questions": str(settings.dev)}
    if settings.held_out:
        cuts["held_out_without"] = HELD_OUT
    for folder, rows in cuts.items():
        _cut(base, folder, "leave-one-out", "--source", source, "--input", str(base / rows))


def _cut(base: Path, folder: str, *arguments: str) -> None:
    command = [str(ROOT / "scripts" / "make_splits.py"), *arguments, "--output", str(base / "splits" / folder)]
    run_logged(command, base, base / "splits" / f"{folder}.log")


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


def _of_cell(command: Callable[..., None]) -> Callable[..., None]:
    """The arguments of a job for one cell."""
    for argument in (click.argument("name"), click.argument("split")):
        command = argument(command)
    return click.argument("system", type=click.Choice(list(SYSTEMS)))(click.pass_obj(command))


@main.command("predict")
@_of_cell
def predict_job(run: tuple[Path, Settings], system: str, split: str, name: str) -> None:
    """Predict the decompositions of the development questions."""
    base, settings = run
    _say(f"predictions of {system} trained on {split}, {name}")
    predict(_cell(system, split, name), settings, base)


@main.command("score")
@_of_cell
def score_job(run: tuple[Path, Settings], system: str, split: str, name: str) -> None:
    """Score the predictions of a cell."""
    base, settings = run
    _say(f"verdicts on {system} trained on {split}, {name}")
    score_cell(_cell(system, split, name), settings, base)


def _cell(system: str, split: str, name: str) -> Cell:
    return Cell(SYSTEMS[system], split, None if name == "given" else int(name.removeprefix("seed_")))


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
    """Write the table of an experiment from the existing cells."""
    base, settings = run
    _say(f"{base / 'tables' / experiment}.md")
    write_result(getattr(tables, experiment)(settings, base), base / "tables")


@main.command("verdicts")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.pass_obj
def verdicts_job(run: tuple[Path, Settings], file: Path) -> None:
    """Add the verdicts of all cells of this run to a file for ``--verdicts``."""
    base, settings = run
    _say(f"{file}: verdicts of {add_verdicts(file, settings, base)} cells")


@main.command("figure")
@click.argument("experiment")
@click.pass_obj
def figure_job(run: tuple[Path, Settings], experiment: str) -> None:
    """Draw the figure of an experiment from its table."""
    base, _ = run
    _say(f"{base / 'figures' / experiment}.svg")
    draw_figure(base / "tables" / f"{experiment}.json", base / "figures")


if __name__ == "__main__":
    try:
        main()
    except QDecompError as error:
        click.echo(f"experiments: {error}", err=True)
        sys.exit(2 if isinstance(error, DataError) else 1)
