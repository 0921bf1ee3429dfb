"""Commands that are killed at random moments give the same as others, once they are run again."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.stress
def test_no_kill_changes_what_is_written(project_root: Path) -> None:
    kills = os.environ.get("QDECOMP_KILLS", "50")
    command = [sys.executable, "-m", "tests.stress.killed_commands", kills]
    done = subprocess.run(command, cwd=project_root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert f"{kills} kills" in done.stdout
