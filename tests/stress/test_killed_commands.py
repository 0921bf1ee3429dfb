"""Commands that are killed at random moments write the same as those that are not, once they are run again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.stress


def test_no_kill_changes_what_is_written(project_root: Path) -> None:
    command = [sys.executable, "-m", "tests.stress.killed_commands", "50"]
    done = subprocess.run(command, cwd=project_root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("50 kills (")


def test_a_loss_is_said(project_root: Path) -> None:
    program = """
from tests.stress import killed_commands
written = killed_commands.written
killed_commands.COMMANDS = {"convert": killed_commands.COMMANDS["convert"]}
# A row is lost in every folder but those of the runs that nobody killed.
killed_commands.written = lambda folder: written(folder) if "whole" in folder.name else {"graphs.jsonl": b""}
found = killed_commands.kill_commands(1, 0)
print(*found.wrong)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=project_root, capture_output=True, text=True)
    assert "convert: exit code 0, differs: graphs.jsonl" in done.stdout, done.stderr
