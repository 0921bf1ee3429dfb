"""Outputs that version 0.1.0 left unfinished, as it was laid out before: killed after the fifth of eight rows."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli_runs import json_lines, run_qdecomp

BEFORE = Path(__file__).parent / "unfinished"
ROWS = BEFORE / "break.csv"


@pytest.mark.parametrize(
    ("command", "name", "told"),
    [
        (("convert", "--input", ROWS, "--processes", 1), "graphs.jsonl", "5 rows were already there"),
        (("convert", "--input", ROWS, "--processes", 1), "graphs", "5 rows were already there"),
        (("combine", ROWS, ROWS, "--questions", ROWS), "combined.jsonl", "8 questions, 5 of them from an earlier run"),
    ],
)
def test_it_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: tuple[object, ...], name: str, told: str
) -> None:
    left, new = shutil.copytree(BEFORE, tmp_path / "left") / name, tmp_path / "new.jsonl"
    assert run_qdecomp(*command, "--output", left) == 0
    captured = capsys.readouterr()
    assert told in captured.out + captured.err
    assert run_qdecomp(*command, "--output", new) == 0
    parts = sorted(left.glob("part-*")) if left.is_dir() else [left]
    assert b"".join(part.read_bytes() for part in parts) == new.read_bytes()
    assert [len(json_lines(part)) for part in parts] == ([3, 3, 2] if left.is_dir() else [8])
