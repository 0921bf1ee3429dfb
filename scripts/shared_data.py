"""The only access to data that is not part of the project: the folder that QDECOMP_SHARED_DATA names.

If the variable is not set, tests that need the data are skipped, and benchmarks ask for a path.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from qdecomp.data_structures.errors import DataError

SWITCH = "QDECOMP_SHARED_DATA"

_Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

_SOURCES = {
    "break": "the files in QDMR/ of the Break dataset, from https://allenai.github.io/Break",
    "reference": "predictions of other systems with the published metric's verdicts, which are not published",
}


def shared_data() -> Path | None:
    """The folder of shared data, or None if the variable is not set."""
    name = os.environ.get(SWITCH, "")
    if not name:
        return None
    folder = Path(name).resolve()
    if not folder.is_dir():
        raise DataError(f"{SWITCH} names no folder: {folder}")
    return folder


def from_shared_data(option: str, *names: str) -> Callable[[], Path]:
    """A default for an option: this file or folder of the shared data, looked up if the option is not given."""

    def default() -> Path:
        folder = shared_data()
        wanted = "/".join(names)
        if folder is None:
            raise DataError(
                f"this benchmark needs {wanted} ({_SOURCES[names[0]]}); name your own with {option}, or "
                f"set {SWITCH} to a folder that has {wanted}"
            )
        return folder.joinpath(*names)

    return default


def shared_data_option(option: str, *names: str, parameter: str | None = None, meaning: str) -> _Decorator:
    """An option for a file or folder that is by default this one of the shared data."""
    return click.option(
        *([option] if parameter is None else [option, parameter]),
        type=click.Path(path_type=Path),
        default=from_shared_data(option, *names),
        help=f"{meaning}  [default: {'/'.join(names)} of the shared data]",
    )
