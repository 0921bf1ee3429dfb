"""``qdecomp evaluate``: score predicted decompositions against gold ones; its options are also those of ``report``."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from qdecomp.cli.options import CLUSTER, PATH, end_run, where_of
from qdecomp.evaluation.formats import score_tables
from qdecomp.evaluation.metrics import DEFAULT_METRICS, METRICS
from qdecomp.evaluation.outputs import detail_line
from qdecomp.evaluation.predictions import name_systems, read_gold
from qdecomp.evaluation.scores import Inputs, read_inputs
from qdecomp.evaluation.scoring import QuestionScores
from qdecomp.evaluation.statistics import RESAMPLES
from qdecomp.files.atomic import require_other_files, write_text_atomically
from qdecomp.files.jobs import Where
from qdecomp.files.predictions import DECOMPOSITION_NAMES
from qdecomp.terminal import echo_data, printable, show_tables

SCORING_PARAMETERS: tuple[click.Parameter, ...] = (
    click.Option(["--gold"], type=PATH, required=True, help="Break's CSV with gold decompositions."),
    click.Option(
        ["--predictions"],
        multiple=True,
        metavar="[NAME=]FILE[:COLUMN]",
        help="A file of predictions, one for each system: JSON lines, JSON, a CSV, or text with a decomposition in "
        "each line. Rows are matched with the gold questions by question_id (or id) or, if there is none, by order. "
        "Decompositions may be Break's text or what language models write, such as lists and JSON. You can also leave "
        "out --predictions and give only the files.",
    ),
    click.Argument(["more_predictions"], nargs=-1, metavar="[[NAME=]FILE[:COLUMN]]..."),
    click.Option(
        ["--column"],
        metavar="NAME",
        help="The column or field of the predictions that has the decompositions.  [default: the first that is "
        f"there of {', '.join(DECOMPOSITION_NAMES)}]",
    ),
    click.Option(
        ["--metrics"],
        default=",".join(DEFAULT_METRICS),
        show_default=True,
        help=f"Comma-separated: {', '.join(METRICS)}. Strict LF-EM is always included with lf_em.",
    ),
    click.Option(
        ["--group-by"],
        metavar="COLUMN",
        help="Also score the groups of questions with the same value in this column of the gold file.",
    ),
    click.Option(
        ["--answered-only"],
        is_flag=True,
        help="Leave questions without an answer out of the means. The signature says so.",
    ),
    click.Option(
        ["--read"],
        type=click.Choice(["any", "break"]),
        default="any",
        show_default=True,
        help="Read predictions in any form that language models write, or as Break's text only.",
    ),
    click.Option(
        ["--compat"],
        type=click.Choice(["epr"]),
        help="Count as EPR and the codebases after it do, and say what that changes.",
    ),
    click.Option(
        ["--strict"],
        is_flag=True,
        help="Stop with exit code 1 if a row is missing, extra, duplicate, malformed or empty.",
    ),
    click.Option(["--seed"], type=int, default=0, show_default=True, help="The seed of intervals and paired tests."),
    click.Option(
        ["--resamples"],
        type=click.IntRange(min=2),
        default=RESAMPLES,
        show_default=True,
        help="How often the bootstrap draws the questions again.",
    ),
    click.Option(
        ["--processes"],
        type=click.IntRange(min=1),
        default=1,
        show_default=True,
        help="How many cores to use for scoring. The results do not depend on it.",
    ),
    click.Option(["--cluster"], **CLUSTER),
)
"""For ``click.command(params=...)`` of ``evaluate`` and ``report``; :func:`read_scoring` takes their values."""


@click.command("evaluate", params=[*SCORING_PARAMETERS])
@click.option("--json", "json_path", type=PATH, help="Write all figures to this file.")
@click.option(
    "--details",
    "details_path",
    type=PATH,
    help="Write one JSON line for each question (of each system, named in the field system) to this file.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "latex", "csv", "json"]),
    default="text",
    show_default=True,
    help="Print tables, or the scores to paste into a paper or to read with a program.",
)
def command(json_path: Path | None, details_path: Path | None, form: str, **scoring: Any) -> None:
    """Score predicted decompositions against gold ones.

    Shows the mean of each metric with a bootstrap interval, overall, by source and by number of gold steps, counts
    errors by reason, and compares every two systems with a paired test. A question without a usable prediction
    counts as wrong.
    """
    inputs, where = read_scoring({"--json": json_path, "--details": details_path}, **scoring)
    with ExitStack() as outputs:
        details = None if details_path is None else outputs.enter_context(write_text_atomically(details_path))

        def write_details(system: str, question: QuestionScores) -> None:
            """The lines go to disk as they come; the file gets its name when everything is done."""
            if details is not None:
                line = detail_line(system, question, inputs.metrics)
                details.write(json.dumps(line, ensure_ascii=False) + "\n")

        scores = inputs.score(where=where, each=write_details)
        if json_path is not None:
            with write_text_atomically(json_path) as stream:
                stream.write(scores.format("json"))
    for line in scores.notes[len(inputs.notes) :]:
        print(printable(line), file=sys.stderr)
    if form == "text":
        show_tables(score_tables(scores.summary))
    else:
        echo_data(scores.format(form).rstrip("\n"))
    end_run(sum(system.internal_errors for system in scores.summary.evaluation.systems))


def read_scoring(
    outputs: Mapping[str, Path | None],
    required_metrics: Sequence[str] = (),
    *,
    gold: Path,
    predictions: tuple[str, ...],
    more_predictions: tuple[str, ...],
    column: str | None,
    metrics: str,
    group_by: str | None,
    strict: bool,
    processes: int,
    cluster: str | None,
    **settings: Any,
) -> tuple[Inputs, Where]:
    """What the values of :data:`SCORING_PARAMETERS` say to score, and where, with the problems of the rows reported.

    With ``--strict``, problems end the program. Raises if an output, by its option's name, is a file that is read.
    """
    where = where_of(processes, cluster)
    named = name_systems((*predictions, *more_predictions))
    require_other_files(outputs, [gold, *(path for _, path, _ in named)])
    if not named:
        raise click.UsageError("give at least one file of predictions: --predictions [NAME=]FILE, or just [NAME=]FILE")
    sources = {name: (path, of_system or column) for name, path, of_system in named}
    names = [*metrics.split(","), *required_metrics]
    inputs = read_inputs(read_gold(gold, group_by), sources, names, **settings)
    for line in inputs.notes:
        print(printable(line), file=sys.stderr)
    if inputs.problems and strict:
        message = "nothing is scored, because --strict is given and the rows above have problems"
        print(f"qdecomp: {message}", file=sys.stderr)
        sys.exit(1)
    return inputs, where
