"""The commands of two guides, docs/own_parser.md and docs/research.md, with little data and one epoch."""

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

# How many rows each file of the first guide gets: the test should be fast, and the parser need not be good.
ROWS = {"train": 12, "dev": 4, "test": 4}


def commands_of(page: str) -> list[str]:
    text = (Path(__file__).resolve().parents[2] / "docs" / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```console\n(.*?)```", text, flags=re.DOTALL)
    return [command.strip() for block in blocks for command in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]


@pytest.fixture
def workplace(tmp_path: Path, project_root: Path) -> Path:
    """A folder with the programs of the guides, the configs and scripts of a clone, and its data."""
    for name in ("training_config", "scripts", "experiments", "data", ".allennlp_plugins"):
        (tmp_path / name).symlink_to(project_root / name)
    for name in ("bin", "my", "out"):
        (tmp_path / name).mkdir()
    for name in ("allennlp", "qdecomp", "python"):
        program = tmp_path / "bin" / name
        module = "" if name == "python" else f"-m {name} "
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {module}"$@"\n', encoding="utf-8")
        program.chmod(0o755)
    return tmp_path


def run(command: str, workplace: Path, changes: dict[str, str]) -> str:
    for old, new in changes.items():
        command = command.replace(old, new)
    environment = os.environ | {
        "PATH": f"{workplace / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "QDECOMP_CACHE": str(workplace / "cache"),
        "ALLENNLP_LOG_LEVEL": "WARNING",
    }
    done = subprocess.run(["sh", "-c", command], cwd=workplace, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_from_a_csv_file_to_a_parser_without_torch(workplace: Path) -> None:
    header, *rows = (workplace / "data" / "train.csv").read_text(encoding="utf-8").splitlines()
    chosen = iter(rows[:: len(rows) // sum(ROWS.values())])
    for name, count in ROWS.items():
        lines = [header, *(next(chosen) for _ in range(count))]
        (workplace / "my" / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    changes = {
        '"settings.epochs": 3': '"settings.epochs": 1, "settings.batch_size": 4',
        # Starting from an encoder alone, training takes long; this run reads everything and stops.
        "-s out/scratch": "-s out/scratch --dry-run",
    }
    commands = commands_of("own_parser.md")
    assert len(commands) == 8
    for command in commands:
        output = run(command, workplace, changes)
    assert "Which orders of March are not paid?" in output
    records = (workplace / "out" / "mine.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(records) == ROWS["test"]
    assert "lf_em" in json.loads((workplace / "out" / "mine.json").read_text(encoding="utf-8"))
    program = """
import sys, qdecomp
found = qdecomp.load("my_parser/").parse("Which orders of March are not paid?")
assert not {"torch", "allennlp", "transformers"} & set(sys.modules)
print(bool(found.steps))
"""
    shown = subprocess.run([sys.executable, "-c", program], cwd=workplace, capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "True"


def test_from_a_search_for_settings_to_a_table_of_error_classes(workplace: Path, tiny_encoder: Path) -> None:
    small = {"settings.encoder": str(tiny_encoder), "settings.epochs": 1, "train_data_path": "data/dev.csv"}
    changes = {
        '{"settings.epochs": 3}': json.dumps(small),
        "--trials 4": "--trials 1",
        "'settings.epochs': 12": "'settings.epochs': 1",
    }
    commands = commands_of("research.md")
    assert len(commands) == 10
    for command in commands:
        if command.startswith("qdecomp errors"):
            mark_every_row(workplace / "out" / "hour" / "errors.csv")
        output = run(command, workplace, changes)
    assert "missing information" in output
    assert len((workplace / "out" / "hour" / "leaderboard.csv").read_text(encoding="utf-8").splitlines()) == 1 + 83


def mark_every_row(sheet: Path) -> None:
    with sheet.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    with sheet.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(row | {"missing information": "x"} for row in rows)
