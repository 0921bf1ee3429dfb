"""``qdecomp leaderboard``: predictions as Break's leaderboard expects them."""

from __future__ import annotations

import csv
from pathlib import Path

import click

from qdecomp.data_structures.errors import DataError
from qdecomp.evaluation.predictions import read_gold, read_predictions
from qdecomp.files import require_other_files, write_text_atomically
from qdecomp.terminal import printable

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("leaderboard")
@click.option("--questions", required=True, type=_FILE, help="Break's CSV with the test questions.")
@click.option(
    "--predictions",
    required=True,
    type=_FILE,
    help="Prediction records (qdecomp parse, allennlp predict, qdecomp combine), or a CSV with question_id and "
    "decomposition.",
)
@click.option("--output", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The CSV to write.")
def command(questions: Path, predictions: Path, output: Path) -> None:
    """Write predictions as the CSV that Break's leaderboard takes.

    It has the column decomposition and a row for each question, in the order of the file of questions. The leaderboard
    takes no empty row: of a question without a decomposition, the row is the question as one step.
    """
    require_other_files({"--output": output}, [questions, predictions])
    gold = read_gold(questions, may_lack_all=True)
    for example in gold.examples:
        if example.error is not None:
            raise DataError(f"{questions}: row {example.row}: {example.error}")
    found = read_predictions(predictions, gold)
    missing = 0
    output.parent.mkdir(parents=True, exist_ok=True)
    with write_text_atomically(output) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["decomposition"])
        for example, prediction in zip(gold.examples, found.predictions, strict=True):
            missing += prediction.text is None
            text = prediction.text or f"return {example.question.replace(';', ',')}"
            writer.writerow([" ".join(text.split())])
    line = f"{len(gold.examples):,} rows; {missing:,} of them without a decomposition; {output}"
    click.echo(printable(line), err=True)
