"""The commands of docs/own_parser.md, from a CSV file to a parser without torch, on rows of the sample set."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "own_parser.md").read_text(encoding="utf-8")
COMMANDS = [
    command.strip()
    for block in re.findall(r"```console\n(.*?)```", PAGE, flags=re.DOTALL)
    for command in block.split("$ ")[1:]
]
PROGRAMS = {"allennlp": ["-m", "allennlp"], "qdecomp": ["-m", "qdecomp"], "python": []}
# How many rows each file gets: the test should be fast, and the parser need not be good.
ROWS = {"train": 12, "dev": 4, "test": 4}


@pytest.fixture
def workplace(tmp_path: Path, project_root: Path) -> Path:
    """A folder as the guide has it: the configs and scripts of a clone, and three files of questions."""
    for name in ("training_config", "scripts", ".allennlp_plugins"):
        (tmp_path / name).symlink_to(project_root / name)
    (tmp_path / "my").mkdir()
    (tmp_path / "out").mkdir()
    header, *rows = (project_root / "data" / "train.csv").read_text(encoding="utf-8").splitlines()
    chosen = iter(rows[:: len(rows) // sum(ROWS.values())])
    for name, count in ROWS.items():
        lines = [header, *(next(chosen) for _ in range(count))]
        (tmp_path / "my" / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def _run(command: str, workplace: Path) -> str:
    variables, words = [], shlex.split(command)
    while "=" in words[0]:
        variables.append(words.pop(0).partition("="))
    if "from_bundle" in command:
        words[-1] = words[-1].replace('"settings.epochs": 3', '"settings.epochs": 1, "settings.batch_size": 4')
    elif "copynet_bert_minilm" in command:
        # Starting from an encoder alone, training takes long; this run reads everything and stops.
        words.append("--dry-run")
    environment = (
        os.environ | {"QDECOMP_CACHE": str(workplace / "cache")} | {name: value for name, _, value in variables}
    )
    environment["ALLENNLP_LOG_LEVEL"] = "WARNING"
    done = subprocess.run(
        [sys.executable, *PROGRAMS[words[0]], *words[1:]],
        cwd=workplace,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_guide_leads_to_a_parser(workplace: Path) -> None:
    assert len(COMMANDS) == 8
    output = ""
    for command in COMMANDS:
        output = _run(command, workplace)
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
