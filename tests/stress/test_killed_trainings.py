"""A training recovers from a kill at any moment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.stress
def test_every_killed_training_recovers_to_the_same_result(tmp_path: Path, project_root: Path) -> None:
    kills = os.environ.get("QDECOMP_KILLS", "100")
    program = [sys.executable, "-m", "tests.stress.killed_trainings", str(tmp_path / "kills"), kills]
    done = subprocess.run(program, cwd=project_root, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert f"{kills} kills" in done.stdout
