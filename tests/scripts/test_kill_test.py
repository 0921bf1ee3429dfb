"""Commands that are killed at random moments write the same as those that are not, once they are run again."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest


def run(project_root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    script = project_root / "scripts" / "kill_test.py"
    return subprocess.run([sys.executable, str(script), *arguments], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("command", "kills"), [("convert", 3), ("evaluate", 2)])
def test_no_kill_changes_what_is_written(project_root: Path, tmp_path: Path, command: str, kills: int) -> None:
    figures = tmp_path / "kills.json"
    result = run(project_root, command, "--kills", str(kills), "--seed", "5", "--json", str(figures))
    assert result.returncode == 0, result.stderr
    assert f"{kills} kills ({command} {kills})" in result.stdout
    found = json.loads(figures.read_text(encoding="utf-8"))
    assert found["kills"] == {command: kills}
    assert found["different"] == []


LOSES = """
import sys
sys.path.insert(0, {scripts!r})
import kill_test
from pathlib import Path

def forget(folder):
    kept = (folder / "graphs.jsonl").read_bytes()
    # A row is lost in every folder but those of the runs that nobody killed.
    return {{"graphs.jsonl": kept if "whole" in folder.name else kept[:-1]}}

job = kill_test.JOBS["convert"]
kill_test.JOBS = {{"convert": kill_test.Job(job.program, job.arguments, forget)}}
kill_test.main(["convert", "--kills", "1"])
"""


def test_a_loss_is_told(project_root: Path) -> None:
    program = LOSES.format(scripts=str(project_root / "scripts"))
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "convert: other content in graphs.jsonl" in result.stderr
