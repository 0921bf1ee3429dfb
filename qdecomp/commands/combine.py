"""``qdecomp combine``: combine the predictions of several systems by consensus."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from qdecomp.terminal.escapes import printable
from qdecomp.version import VERSION

from .cluster_option import CLUSTER_OPTION, require_one_way

if TYPE_CHECKING:
    from qdecomp.files.joined_predictions import JoinedQuestion
    from qdecomp.terminal.processes import Spread

__all__ = ["command"]


@click.command("combine")
@click.option(
    "--predictions",
    multiple=True,
    required=True,
    metavar="FILE [FILE]...",
    type=click.Path(path_type=Path),
    help="Prediction records of two or more systems (JSON lines, or a CSV with question_id and decomposition).",
)
@click.argument("more_predictions", nargs=-1, type=click.Path(path_type=Path), metavar="[FILE]...")
@click.option("--output", "output_path", type=click.Path(path_type=Path), help="JSON lines, one for each question.")
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
@click.option("--overwrite", is_flag=True, help="Start again instead of continuing an existing output file.")
@click.option("--strict", is_flag=True, help="Exit with code 1 if a question has no decomposition.")
def command(
    predictions: tuple[Path, ...],
    more_predictions: tuple[Path, ...],
    output_path: Path | None,
    weights: str | None,
    gold_path: Path | None,
    questions_path: Path | None,
    processes: int,
    cluster: str | None,
    overwrite: bool,
    strict: bool,
) -> None:
    """Combine the predictions of several systems into their consensus.

    Candidates with the same normalised logical form support each other: their probabilities are added up, weighted by
    system. The answer is the best candidate of the strongest group. With --learn-weights, the command prints the
    weights that make most answers right; with --output, it also uses them.
    """
    from qdecomp.cluster import on_cluster
    from qdecomp.decoding.consensus import check_weights
    from qdecomp.files import read_break_csv, require_other_files
    from qdecomp.files.joined_predictions import join_predictions

    paths = (*predictions, *more_predictions)
    require_one_way(processes if processes > 1 else None, cluster)
    if len(paths) < 2:
        raise click.UsageError("give the predictions of two or more systems")
    if output_path is None and gold_path is None:
        raise click.UsageError("give --output, or --learn-weights, or both")
    if weights is not None and gold_path is not None:
        raise click.UsageError("give either --weights or --learn-weights, not both")
    require_other_files({"--output": output_path}, [*paths, gold_path, questions_path])
    texts = {} if questions_path is None else {row.question_id: row.question for row in read_break_csv(questions_path)}
    joined = join_predictions(paths, texts)
    used = _learned(joined, gold_path) if gold_path is not None else _weights_of(weights, len(paths))
    check_weights(used, len(paths))
    failed = 0
    if output_path is not None:
        with on_cluster(cluster) as spread:
            failed = _write(joined, used, output_path, overwrite, processes, spread)
    if strict and failed:
        raise SystemExit(1)


def _weights_of(text: str | None, systems: int) -> list[float]:
    if text is None:
        return [1.0] * systems
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise click.UsageError(f"--weights {text!r}: give numbers separated by commas, such as 1,0.5") from None


def _learned(joined: Sequence[JoinedQuestion], gold_path: Path) -> Sequence[float]:
    from qdecomp.decoding.consensus import learn_weights
    from qdecomp.files import read_break_csv

    golds = {row.question_id: row.decomposition for row in read_break_csv(gold_path)}
    rows = [(each.question, gold, each.predictions) for each in joined if (gold := golds.get(each.question_id))]
    weights = learn_weights(rows)
    click.echo(f"weights learned on {len(rows):,} questions: {','.join(f'{weight:g}' for weight in weights)}")
    return weights


def _write(
    joined: Sequence[JoinedQuestion],
    weights: Sequence[float],
    path: Path,
    overwrite: bool,
    processes: int,
    spread: Spread | None,
) -> int:
    from qdecomp.bulk_combining import consensus_records
    from qdecomp.files.record_output import resume_records
    from qdecomp.terminal.progress import progress

    settings = json.dumps([VERSION, *weights])
    keys = [f"{each.fingerprint} {settings}" for each in joined]
    failed = 0

    def count(record: Mapping[str, Any]) -> None:
        nonlocal failed
        failed += record["decomposition"] is None

    with resume_records(path, keys, overwrite=overwrite, on_record=count) as writer:
        resumed = writer.done
        records = consensus_records(joined[resumed:], weights, processes, spread)
        for record in progress(records, "combining", len(joined) - resumed):
            count(record)
            writer.write({**record, "key": keys[writer.done]})
    kept = f", {resumed:,} of them from an earlier run" if resumed else ""
    told = f"{len(joined):,} questions{kept}; {failed:,} without a decomposition; {path}"
    click.echo(printable(told), err=True)
    return failed
