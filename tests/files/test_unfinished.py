"""Outputs that version 0.1.0 left unfinished, as it was laid out before: killed after the fifth of eight rows."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli_runs import json_lines, run_qdecomp

BEFORE = Path(__file__).parent / "unfinished"
ROWS = BEFORE / "break.csv"
CONVERT = ("convert", "--input", ROWS, "--processes", 1, "--output")
COMBINE = ("combine", ROWS, ROWS, "--questions", ROWS, "--output")


@pytest.fixture
def left(tmp_path: Path) -> Path:
    return Path(shutil.copytree(BEFORE, tmp_path / "left"))


def test_converting_goes_on(left: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (left / "graphs.jsonl").read_bytes()
    assert run_qdecomp(*CONVERT, left / "graphs.jsonl") == 0
    assert "5 rows were already there" in capsys.readouterr().out
    assert run_qdecomp(*CONVERT, tmp_path / "new.jsonl") == 0
    assert (left / "graphs.jsonl").read_bytes() == (tmp_path / "new.jsonl").read_bytes()
    assert (tmp_path / "new.jsonl").read_bytes().startswith(before)


def test_a_folder_goes_on(left: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_qdecomp(*CONVERT, left / "graphs") == 0
    assert "5 rows were already there" in capsys.readouterr().out
    assert run_qdecomp(*CONVERT, tmp_path / "new.jsonl") == 0
    parts = sorted((left / "graphs").glob("part-*"))
    assert b"".join(part.read_bytes() for part in parts) == (tmp_path / "new.jsonl").read_bytes()
    assert [len(json_lines(part)) for part in parts] == [3, 3, 2]


def test_combining_goes_on(left: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_qdecomp(*COMBINE, left / "combined.jsonl") == 0
    assert "8 questions, 5 of them from an earlier run" in capsys.readouterr().err
    assert run_qdecomp(*COMBINE, tmp_path / "new.jsonl") == 0
    assert (left / "combined.jsonl").read_bytes() == (tmp_path / "new.jsonl").read_bytes()


def test_other_rows_are_refused_with_one_line(left: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (left / "break.csv").write_text(ROWS.read_text(encoding="utf-8").replace("fare", "seat"), encoding="utf-8")
    assert run_qdecomp("convert", "--input", left / "break.csv", "--output", left / "graphs.jsonl") == 2
    told = capsys.readouterr().err
    assert "line 1 was made from other input or with other settings; give another file, or overwrite it" in told
    assert told.count("\n") == 1
