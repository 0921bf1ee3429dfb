"""``qdecomp evaluate``: score predicted decompositions against gold ones."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from qdecomp.cli.options import exit_after_internal_errors
from qdecomp.cli.scoring_options import SCORING_PARAMETERS, ScoringOptions
from qdecomp.files.atomic import write_text_atomically
from qdecomp.terminal import printable


@click.command("evaluate", params=[*SCORING_PARAMETERS])
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write all figures to this file.")
@click.option(
    "--details",
    "details_path",
    type=click.Path(path_type=Path),
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
    from qdecomp.evaluation.outputs import detail_line, score_tables
    from qdecomp.evaluation.scoring import QuestionScores
    from qdecomp.terminal import echo_data, show_tables

    options = ScoringOptions(**scoring)
    options.require_other_outputs({"--json": json_path, "--details": details_path})
    inputs = options.read()
    with ExitStack() as outputs:
        details = None if details_path is None else outputs.enter_context(write_text_atomically(details_path))

        def write_details(system: str, question: QuestionScores) -> None:
            """The lines go to disk as they come; the file gets its name when everything is done."""
            if details is not None:
                line = detail_line(system, question, inputs.metrics)
                details.write(json.dumps(line, ensure_ascii=False) + "\n")

        scores = inputs.score(where=options.where, keep_questions=False, each=write_details)
        if json_path is not None:
            with write_text_atomically(json_path) as stream:
                stream.write(scores.format("json"))
    for line in scores.notes[len(inputs.problems) + len(inputs.notes) :]:
        print(printable(line), file=sys.stderr)
    if form == "text":
        show_tables(score_tables(scores.summary))
    else:
        echo_data(scores.format(form).rstrip("\n"))
    exit_after_internal_errors(sum(system.columns.internal_errors for system in scores.summary.evaluation.systems))
