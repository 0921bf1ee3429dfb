"""``qdecomp combine``: combine the predictions of several systems by consensus."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import click

from qdecomp.cli.cluster_option import CLUSTER_OPTION, require_one_way
from qdecomp.cli.part_options import PART_ROWS_OPTION, require_folder
from qdecomp.terminal import printable
from qdecomp.version import VERSION

if TYPE_CHECKING:
    from qdecomp.files.readers.joined_predictions import JoinedPredictions, JoinedQuestion
    from qdecomp.files.records.record_lines import RecordLine
    from qdecomp.parsers.decomposition import Decomposition

__all__ = ["command"]


@click.command("combine")
@click.option(
    "--predictions",
    multiple=True,
    metavar="FILE [FILE]...",
    type=click.Path(path_type=Path),
    help="Prediction records of two or more systems (JSON lines, or a CSV with question_id and decomposition). You can "
    "also leave out --predictions and only name the files.",
)
@click.argument("more_predictions", nargs=-1, type=click.Path(path_type=Path), metavar="[FILE]...")
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
    type=click.Path(path_type=Path),
    help="Learn the weights from Break's CSV with gold decompositions. Use rows that no system was trained on.",
)
@click.option(
    "--questions",
    "questions_path",
    type=click.Path(path_type=Path),
    help="Break's CSV with the texts of the questions, for predictions that have none.",
)
@click.option("--processes", type=click.IntRange(min=1), default=1, show_default=True, help="How many cores to use.")
@CLUSTER_OPTION
@PART_ROWS_OPTION
@click.option("--overwrite", is_flag=True, help="Start again instead of continuing an existing output file.")
@click.option("--strict", is_flag=True, help="Exit with code 1 if a question has no decomposition.")
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
    from qdecomp.bulk.bulk_combining import consensus_lines
    from qdecomp.files import require_other_files
    from qdecomp.files.readers.joined_predictions import join_predictions
    from qdecomp.files.row_store.rows_by_id import RowsById
    from qdecomp.parsers.consensus import check_weights
    from qdecomp.workers import on_cluster

    paths = (*predictions, *more_predictions)
    require_one_way(processes if processes > 1 else None, cluster)
    require_folder(output_path, part_rows)
    _require_consistent(paths, output_path, weights, gold_path)
    require_other_files({"--output": output_path}, [*paths, gold_path, questions_path])
    texts: RowsById[str] = RowsById() if questions_path is None else RowsById(_texts(questions_path))
    joined = join_predictions(paths, texts)
    used = _learned(joined, gold_path) if gold_path is not None else _weights_of(weights, len(paths))
    check_weights(used, len(paths))
    failed = 0
    if output_path is not None:
        with on_cluster(cluster) as spread:
            lines = partial(consensus_lines, weights=used, processes=processes, spread=spread)
            failed = _write(joined, json.dumps([VERSION, *used]), lines, output_path, overwrite, part_rows)
    if strict and failed:
        raise SystemExit(1)


def _require_consistent(
    paths: Sequence[Path], output_path: str | None, weights: str | None, gold_path: Path | None
) -> None:
    """Raise if there is nothing to combine, nothing to do, or a choice of weights."""
    if len(paths) < 2:
        raise click.UsageError("give the predictions of two or more systems")
    if output_path is None and gold_path is None:
        raise click.UsageError("give --output, or --learn-weights, or both")
    if weights is not None and gold_path is not None:
        raise click.UsageError("give either --weights or --learn-weights, not both")


def _weights_of(text: str | None, systems: int) -> list[float]:
    if text is None:
        return [1.0] * systems
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise click.UsageError(f"--weights {text!r}: give numbers separated by commas, such as 1,0.5") from None


def _texts(path: Path) -> Iterator[tuple[str, str]]:
    from qdecomp.files.readers.break_csv import iterate_break_csv

    return ((row.question_id, row.question) for row in iterate_break_csv(path))


def _learned(joined: JoinedPredictions, gold_path: Path) -> Sequence[float]:
    from qdecomp.files.readers.break_csv import iterate_break_csv
    from qdecomp.files.row_store.rows_by_id import RowsById
    from qdecomp.parsers.consensus import learn_weights

    rows = ((row.question_id, row.decomposition) for row in iterate_break_csv(gold_path))
    golds = RowsById((question_id, gold) for question_id, gold in rows if gold)
    used = 0

    def with_gold() -> Iterator[tuple[str, str, Sequence[Decomposition]]]:
        nonlocal used
        for each in joined:
            if (gold := golds.find(each.question_id)) is not None:
                used += 1
                yield each.question, gold, each.predictions

    weights = learn_weights(with_gold())
    click.echo(f"weights learned on {used:,} questions: {','.join(f'{weight:g}' for weight in weights)}")
    return weights


class _Lines(Protocol):
    def __call__(self, questions: Iterator[JoinedQuestion], *, settings: str) -> Iterator[RecordLine]:
        """The lines of these questions' records."""


def _write(
    joined: JoinedPredictions, settings: str, lines: _Lines, path: str, overwrite: bool, part_rows: int | None
) -> int:
    from qdecomp.bulk.bulk_combining import CombiningOutcome, consensus_key
    from qdecomp.files.records.record_output import resume_records
    from qdecomp.terminal import progress

    failed = 0

    def count(record: Mapping[str, Any]) -> None:
        nonlocal failed
        failed += CombiningOutcome.of(record).has_failed

    keys = (consensus_key(settings, each) for each in joined)
    with resume_records(path, keys, overwrite=overwrite, on_record=count, part_rows=part_rows) as writer:
        resumed = writer.done
        found = lines(joined.rest(resumed), settings=settings)
        for line, outcome in progress(found, "combining", len(joined) - resumed):
            failed += outcome.has_failed
            writer.write(line)
    kept = f", {resumed:,} of them from an earlier run" if resumed else ""
    told = f"{len(joined):,} questions{kept}; {failed:,} without a decomposition; {path}"
    click.echo(printable(told), err=True)
    return failed
