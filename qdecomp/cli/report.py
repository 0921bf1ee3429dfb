"""``qdecomp report`` and ``qdecomp errors``: compare systems on one page, and count the errors that a person judged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from qdecomp.cli.evaluate import SCORING_PARAMETERS, read_scoring
from qdecomp.cli.options import PATH, end_run
from qdecomp.files import require_other_files, write_text_atomically
from qdecomp.terminal import printable, show_tables


@click.command("report", params=[*SCORING_PARAMETERS])
@click.option("--output", type=PATH, required=True, help="The folder to write.")
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
    if error_sheet is not None:
        require_new_sheet(error_sheet)
    inputs, where = read_scoring({"--output": output, "--error-sheet": error_sheet}, ["lf_em"], **scoring)
    report = build_report(inputs.score(where=where).summary)
    write_report(report, output)
    if error_sheet is not None:
        rows = write_error_sheet(report.systems, error_sheet, count=errors, seed=scoring["seed"])
        print(printable(f"{rows} errors to judge are in {error_sheet}"))
    print(printable(f"The report is in {output / 'index.html'}"))
    end_run(sum(system.internal_errors for system in report.systems))


@click.command("errors")
@click.argument("sheets", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--json", "json_path", type=click.Path(dir_okay=False, path_type=Path), help="Write the shares here, too."
)
def errors(sheets: tuple[Path, ...], json_path: Path | None) -> None:
    """Make the paper's table of error classes from filled-in sheets.

    ``qdecomp report --error-sheet FILE`` writes a sheet with a random sample of each system's errors. Mark the classes
    that apply with an x.
    """
    from qdecomp.evaluation.error_sheet import error_shares, error_table

    require_other_files({"--json": json_path}, sheets)
    shares = error_shares(sheets)
    show_tables([error_table(shares)])
    if json_path is not None:
        with write_text_atomically(json_path) as stream:
            stream.write(json.dumps(shares, indent=1, ensure_ascii=False) + "\n")
