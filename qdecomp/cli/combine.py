"""``qdecomp combine``: combine the predictions of several systems by consensus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from qdecomp.cli import options
from qdecomp.files import require_other_files
from qdecomp.files.break_csv import example_store, iterate_break_csv
from qdecomp.files.predictions import JoinedQuestion
from qdecomp.parsers.bulk import combine_files, predictions_of, read_joined
from qdecomp.parsers.consensus import check_weights, learn_weights
from qdecomp.parsers.decomposition import Decomposition
from qdecomp.terminal import printable


@click.command("combine")
@click.option(
    "--predictions",
    multiple=True,
    metavar="FILE [FILE]...",
    type=options.PATH,
    help="Prediction records of two or more systems (JSON lines, or a CSV with question_id and decomposition). You can "
    "also leave out --predictions and only name the files.",
)
@click.argument("more_predictions", nargs=-1, type=options.PATH, metavar="[FILE]...")
@click.option(
    "--output",
    "output_path",
    metavar="PATH",
    help="JSON lines, one for each question, or a folder of files if the name ends with a slash.",
)
@click.option("--weights", help="A number for each system, such as 1,0.5.  [default: 1 for each]")
@click.option(
    "--learn-weights",
    "gold_path",
    type=options.PATH,
    help="Learn the weights from Break's CSV with gold decompositions. Use rows that no system was trained on.",
)
@click.option(
    "--questions",
    "questions_path",
    type=options.PATH,
    help="Break's CSV with the texts of the questions, for predictions that have none.",
)
@click.option("--processes", type=click.IntRange(min=1), default=1, show_default=True, help="How many cores to use.")
@options.CLUSTER_OPTION
@options.PART_ROWS_OPTION
@options.OVERWRITE_OPTION
@options.STRICT_OPTION
def command(
    predictions: tuple[Path, ...],
    more_predictions: tuple[Path, ...],
    output_path: str | None,
    weights: str | None,
    gold_path: Path | None,
    questions_path: Path | None,
    processes: int,
    cluster: str | None,
    part_rows: int | None,
    overwrite: bool,
    strict: bool,
) -> None:
    """Combine the predictions of several systems into their consensus.

    Candidates with the same normalised logical form support each other: their probabilities are added up, weighted by
    system. The answer is the best candidate of the strongest group. With --learn-weights, the command prints the
    weights that make most answers right; with --output, it also uses them.
    """
    paths = (*predictions, *more_predictions)
    where = options.where_of(processes, cluster)
    options.require_folder(output_path, part_rows)
    if len(paths) < 2:
        raise click.UsageError("give the predictions of two or more systems")
    if output_path is None and gold_path is None:
        raise click.UsageError("give --output, or --learn-weights, or both")
    if weights is not None and gold_path is not None:
        raise click.UsageError("give either --weights or --learn-weights, not both")
    require_other_files({"--output": output_path}, [*paths, gold_path, questions_path])
    joined, empty = read_joined(paths, questions_path)
    for path in empty:
        click.echo(printable(f"{path}: warning: there are no predictions in it"), err=True)
    used = _learned(joined, gold_path) if gold_path is not None else _weights_of(weights, len(paths))
    check_weights(used, len(paths))
    if output_path is None:
        return
    summary = combine_files(joined, output_path, used, where=where, overwrite=overwrite, part_rows=part_rows)
    options.show_summary(summary, output_path)
    options.show_calls(summary)
    options.end_run(summary.internal_errors, strict and summary.failed)


def _weights_of(text: str | None, systems: int) -> list[float]:
    if text is None:
        return [1.0] * systems
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise click.UsageError(f"--weights {text!r}: give numbers separated by commas, such as 1,0.5") from None


def _learned(joined: Sequence[JoinedQuestion], gold_path: Path) -> Sequence[float]:
    golds = example_store(row for row in iterate_break_csv(gold_path) if row.decomposition)
    used = 0

    def with_gold() -> Iterator[tuple[str, str, Sequence[Decomposition]]]:
        nonlocal used
        for each in joined:
            place = golds.find(each.question_id)
            if place is not None and (gold := golds[place].decomposition) is not None:
                used += 1
                yield each.question, gold, predictions_of(each)

    weights = learn_weights(with_gold())
    click.echo(f"weights learned on {used:,} questions: {','.join(f'{weight:g}' for weight in weights)}")
    return weights
