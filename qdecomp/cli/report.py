"""``qdecomp report``: compare systems on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from qdecomp.cli.options import exit_after_internal_errors
from qdecomp.cli.scoring_options import SCORING_PARAMETERS, ScoringOptions
from qdecomp.terminal import printable


@click.command("report", params=[*SCORING_PARAMETERS])
@click.option("--output", type=click.Path(path_type=Path), required=True, help="The folder to write.")
@click.option(
    "--error-sheet",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write a CSV with random errors of each system, for a person to fill in and for qdecomp errors.",
)
@click.option("--errors", type=click.IntRange(min=1), default=30, show_default=True, help="How many of each system.")
def command(output: Path, error_sheet: Path | None, errors: int, **scoring: Any) -> None:
    """Compare systems on one page with tables, plots and examples.

    Writes a folder with index.html, which needs no network, and the same figures as JSON and CSV.
    """
    from qdecomp.evaluation.error_sheet import require_new_sheet, write_error_sheet
    from qdecomp.evaluation.report import REPORT_FILES, build_report, write_report
    from qdecomp.files.atomic import require_replaceable_folder

    require_replaceable_folder(output, REPORT_FILES)  # before anybody waits for scores
    options = ScoringOptions(**scoring)
    options.require_other_outputs({"--output": output, "--error-sheet": error_sheet})
    if error_sheet is not None:
        require_new_sheet(error_sheet)
    inputs = options.read(required_metrics=["lf_em"])
    evaluation = inputs.score(where=options.where).summary.evaluation
    report = build_report(evaluation, inputs.settings)
    write_report(report, output)
    if error_sheet is not None:
        rows = write_error_sheet(report.systems, error_sheet, count=errors, seed=options.seed)
        print(printable(f"{rows} errors to judge are in {error_sheet}"))
    print(printable(f"The report is in {output / 'index.html'}"))
    exit_after_internal_errors(sum(system.internal_errors for system in report.systems))
