"""Runs of ``qdecomp`` in this process, and the files that they write."""

from __future__ import annotations

import contextlib
import io
import json
import math
from collections.abc import Iterable
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


def refusal(*arguments: object) -> str:
    """What a run with exit code 2 says on standard error: one line, or how the command is used."""
    told = io.StringIO()
    with contextlib.redirect_stderr(told):
        assert run_qdecomp(*arguments) == 2
    assert told.getvalue().startswith("Usage: ") or told.getvalue().count("\n") == 1, told.getvalue()
    return told.getvalue()


def told_by_us(stderr: str) -> list[str]:
    """What a command said on standard error in another process, where libraries may warn about the machine."""
    assert "Traceback" not in stderr
    return [line for line in stderr.splitlines() if line.startswith("qdecomp: ")]


def write_json_lines(path: Path, values: Iterable[object]) -> Path:
    """A file with these values."""
    path.write_text("".join(f"{json.dumps(value)}\n" for value in values), encoding="utf-8")
    return path


def json_lines(path: Path | str) -> list[Any]:
    """The values in a file of JSON lines."""
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
