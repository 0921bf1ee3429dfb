"""``qdecomp errors``: the table of error classes from sheets that a person filled in."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.command("errors")
@click.argument("sheets", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--json", "json_path", type=click.Path(dir_okay=False, path_type=Path), help="Write the shares here, too."
)
def command(sheets: tuple[Path, ...], json_path: Path | None) -> None:
    """Make the paper's table of error classes from filled-in sheets.

    ``qdecomp report --error-sheet FILE`` writes a sheet with a random sample of each system's errors. Mark the classes
    that apply with an x.
    """
    from qdecomp.evaluation.error_sheet import error_shares, error_table, read_error_sheets
    from qdecomp.files import require_other_files, write_text_atomically
    from qdecomp.terminal import show_tables

    require_other_files({"--json": json_path}, sheets)
    shares = error_shares(read_error_sheets(sheets))
    show_tables([error_table(shares)])
    if json_path is not None:
        with write_text_atomically(json_path) as stream:
            stream.write(json.dumps(shares, indent=1, ensure_ascii=False) + "\n")
