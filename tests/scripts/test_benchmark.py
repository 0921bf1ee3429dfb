"""Benchmarks print a table and write JSON; what is missing is one line and exit code 2."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from qdecomp.data_structures.errors import DataError
from scripts.shared_data import SWITCH, from_shared_data, shared_data

TEXT = "return spheres ;return number of #1"
ROW = {"question": "How many spheres are there?", "prediction": TEXT, "gold": TEXT}


def run(project_root: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(project_root / "scripts" / "benchmark.py"), *map(str, arguments)]
    environment = {name: value for name, value in os.environ.items() if name != SWITCH}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=project_root)


def test_metrics_prints_a_table_and_writes_json(project_root: Path, tmp_path: Path) -> None:
    names = ["lf_em_a.jsonl", "lf_em_b.jsonl"]
    for name in names:
        (tmp_path / name).write_text((json.dumps(ROW) + "\n") * 3)
    out = tmp_path / "out.json"
    result = run(project_root, "metrics", "--reference", tmp_path, "--metrics", "lf_em", "--rows", 2, "--json", out)
    assert result.returncode == 0, result.stderr
    assert "pairs/CPU s" in result.stdout
    measured = json.loads(out.read_text())["metrics"]
    assert [(each["file"], each["pairs"]) for each in measured] == [(name, 2) for name in names]
    assert all(each["pairs_per_cpu_second"] > 0 and each["memory_mb"] > 1 for each in measured)


def test_parsers_answer_the_same_questions_side_by_side(project_root: Path, archive: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    result = run(
        project_root,
        *("inference", "--questions", "data/questions.txt", "--count", 5),
        *("--parser", "strict", archive, "{}", "--parser", "soft", archive, '{"model.decoder": "projection"}'),
        *("--batch-sizes", "1,2", "--threads", 1, "--json", out),
    )
    assert result.returncode == 0, result.stderr
    measured = json.loads(out.read_text())["inference"]
    assert [(each["parser"], each["batch_size"], each["questions"]) for each in measured] == [
        (name, size, 5) for size in (1, 2) for name in ("strict", "soft")
    ]
    assert all(each["cpu_seconds"] > 0 for each in measured)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("metrics", "--reference", "nowhere"), "there is no such file"),
        (
            ("inference", "--questions", "data/questions.txt", "--parser", "x", "nowhere.tar.gz", "{}"),
            "there is no archive nowhere.tar.gz",
        ),
        (("parse", "--questions", "data/everyday.csv", "--against", "nowhere"), "there is no parser 'nowhere'"),
        (
            ("conversion",),
            "this benchmark needs break/train.csv (the files in QDMR/ of the Break dataset, from https://",
        ),
        (("metrics",), f"name your own with --reference, or set {SWITCH} to a folder that has reference"),
    ],
)
def test_what_is_missing_is_one_line(project_root: Path, arguments: tuple[str, ...], message: str) -> None:
    result = run(project_root, *arguments)
    assert result.returncode == 2
    assert message in result.stderr.splitlines()[-1]
    assert "Traceback" not in result.stderr


def test_the_switch_names_the_folder_of_shared_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(SWITCH, str(tmp_path))
    assert shared_data() == tmp_path
    assert from_shared_data("--gold", "break", "dev.csv")() == tmp_path / "break" / "dev.csv"
    monkeypatch.setenv(SWITCH, "")
    assert shared_data() is None
    monkeypatch.setenv(SWITCH, str(tmp_path / "none"))
    with pytest.raises(DataError, match=f"{SWITCH} names no folder"):
        shared_data()
