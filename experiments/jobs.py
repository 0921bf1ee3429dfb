"""The jobs of the graph, each a command that the workflow engine starts: ``python -m experiments.jobs JOB …``."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import click

from qdecomp.data_structures.errors import DataError, QDecompError

from .cells import Cell, rows_file, timed_cells
from .figures import draw_figure
from .predicting import measure_times, predict
from .results import write_result
from .settings import ROOT, Settings, restore
from .systems import PARSERS, SYSTEMS, System
from .tables.inference_time import TIMES
from .tiny_encoder import make_tiny_encoder
from .training import ENCODER_FOLDER, overrides_of, run_logged, train
from .verdicts import add_verdicts

__all__ = ["main"]


@click.group(help=__doc__)
@click.option("--base", type=click.Path(file_okay=False, path_type=Path), required=True, help="The folder of the run.")
@click.pass_context
def main(context: click.Context, base: Path) -> None:
    """Run one job."""
    context.obj = (base.absolute(), restore(base / "settings.json"))


def _say(what: str) -> None:
    click.echo(f"-- {what}")


@main.command("subsets")
@click.argument("seed", type=int)
@click.pass_obj
def subsets_job(run: tuple[Path, Settings], seed: int) -> None:
    """Cut nested subsets of the training rows."""
    base, settings = run
    _say(f"nested subsets of the training rows, seed {seed}")
    _cut(base, f"seed_{seed}", "subsets", "--seed", str(seed), "--input", str(settings.train))


@main.command("leave-out")
@click.argument("source")
@click.pass_obj
def leave_out_job(run: tuple[Path, Settings], source: str) -> None:
    """Cut the training rows without a source, and the development questions of it."""
    base, settings = run
    _say(f"the training rows without {source}, and its development questions")
    for folder, rows in (("left_out", settings.train), ("questions", settings.dev)):
        _cut(base, folder, "leave-one-out", "--source", source, "--input", str(rows))


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
    overrides = overrides_of(settings.parsers[parser], settings, base, base / rows_file(split, seed), seed)
    train(settings.parsers[parser], overrides, base, (base / cell.training).parent)


@main.command("predict")
@click.argument("system", type=click.Choice(list(SYSTEMS)))
@click.argument("split")
@click.argument("name")
@click.pass_obj
def predict_job(run: tuple[Path, Settings], system: str, split: str, name: str) -> None:
    """Predict the decompositions of the development questions."""
    base, settings = run
    _say(f"predictions of {system} trained on {split}, {name}")
    seed = None if name == "given" else int(name.removeprefix("seed_"))
    predict(Cell(SYSTEMS[system], split, seed), settings, base)


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
    builder = import_module(f"experiments.tables.{experiment}")
    _say(f"{base / 'tables' / experiment}.md")
    write_result(builder.build(settings, base), base / "tables")


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
