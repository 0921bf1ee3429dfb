"""Runs of ``qdecomp`` in this process, and the files that they write."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from qdecomp.cli import main


def run_qdecomp(*arguments: object) -> int:
    """The exit code of a run with these arguments, without progress messages, however slow it is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("qdecomp.terminal._SECONDS_BETWEEN_LINES", math.inf)
        with pytest.raises(SystemExit) as ended:
            main([*map(str, arguments)])
    return int(ended.value.code or 0)


def json_lines(path: Path | str) -> list[Any]:
    """The values in a file of JSON lines."""
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
