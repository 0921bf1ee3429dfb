"""How the scripts end: an error that a user can cause is one line and exit code 2, without a traceback."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from qdecomp.data_structures.errors import QDecompError
from qdecomp.terminal import printable


def run_script(main: Callable[..., object]) -> None:
    """Run the command of a script, under the name of its file."""
    name = Path(sys.argv[0]).name
    try:
        main(prog_name=name)
    except QDecompError as error:
        print(printable(f"{name}: {error}"), file=sys.stderr)
        sys.exit(2)
