"""A run on a Dask cluster whose parts are killed writes the same as one without Dask."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.stress


def test_no_kill_of_a_cluster_changes_what_is_written(project_root: Path, tmp_path: Path) -> None:
    things = ("cubes", "large red cubes", "rivers", "long rivers in texas", "flights from denver", "old churches")
    lines = [f"how many {thing} are near the {number}th house ?" for number in range(1, 101) for thing in things]
    (tmp_path / "questions.txt").write_text("\n".join(lines), encoding="utf-8")
    command = [sys.executable, "-m", "tests.stress.killed_cluster", str(tmp_path / "questions.txt")]
    done = subprocess.run([*command, "--folder", str(tmp_path)], cwd=project_root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "a worker was killed" in done.stdout
    assert "600 different keys; equal" in done.stdout
