"""The commands of docs/research.md, from a search for settings to the table of error classes, with a tiny encoder."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("optuna", reason="Optuna is not installed; make install installs it")

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "research.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\$ (.*)$", PAGE, flags=re.MULTILINE)


def test_the_hour_ends_with_a_table(tmp_path: Path, tiny_encoder: Path, project_root: Path) -> None:
    for name in ("allennlp", "qdecomp", "python"):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        module = "" if name == "python" else f"-m {name} "
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {module}"$@"\n', encoding="utf-8")
        program.chmod(0o755)
    out = tmp_path / "hour"
    small = {"settings.encoder": str(tiny_encoder), "settings.epochs": 1, "train_data_path": "data/dev.csv"}
    changes = {
        '{"settings.epochs": 3}': json.dumps(small),
        "--trials 4": "--trials 1",
        "'settings.epochs': 12": "'settings.epochs': 1",
        "out/hour": str(out),
    }
    assert len(COMMANDS) == 10
    environment = os.environ | {
        "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "QDECOMP_CACHE": str(tmp_path / "cache"),
        "ALLENNLP_LOG_LEVEL": "WARNING",
    }
    for command in COMMANDS:
        if command.startswith("qdecomp errors"):
            mark_every_row(out / "errors.csv")
        for old, new in changes.items():
            command = command.replace(old, new)
        done = subprocess.run(
            ["sh", "-c", command], cwd=project_root, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    assert "missing information" in done.stdout
    assert len((out / "leaderboard.csv").read_text(encoding="utf-8").splitlines()) == 1 + 83


def mark_every_row(sheet: Path) -> None:
    with sheet.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    with sheet.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(row | {"missing information": "x"} for row in rows)
