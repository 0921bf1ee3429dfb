"""The option ``--part-rows``, for commands that can write a folder of files."""

from __future__ import annotations

import click

__all__ = ["PART_ROWS_OPTION", "require_folder"]

PART_ROWS_OPTION = click.option(
    "--part-rows",
    type=click.IntRange(min=1),
    help="With --output FOLDER/: how many records each file of the folder has.  [default: 10000]",
)
"""The option as a decorator."""


def require_folder(output: str | None, part_rows: int | None) -> None:
    """Raise if ``--part-rows`` is given without a folder."""
    from qdecomp.files.storage.part_folders import is_folder_output

    if part_rows is not None and (output is None or not is_folder_output(output)):
        raise click.UsageError("--part-rows only works with a folder: end the name of --output with a slash")
