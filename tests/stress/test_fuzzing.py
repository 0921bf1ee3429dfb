"""The fuzzing program: a small run of every target finds nothing, and what it should find is reported."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.stress
TARGETS = ("qdmr", "lf", "lf_em", "conversion", "codecs", "records", "pages", "parser", "files")


def run(project_root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.stress.fuzzing", *arguments]
    return subprocess.run(command, cwd=project_root, capture_output=True, text=True, check=False)


def python(project_root: Path, program: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program]
    return subprocess.run(command, cwd=project_root, capture_output=True, text=True, check=False)


def test_every_target_takes_what_nobody_would_write(project_root: Path, tmp_path: Path) -> None:
    output = tmp_path / "fuzz.json"
    # The parser's share of the time is the whole of it, so that the number of inputs is what ends the run.
    result = run(project_root, "--seconds", "3600", "--inputs", "60", "--seed", "1", "--output", str(output))
    found = json.loads(output.read_text(encoding="utf-8"))
    assert found["findings"] == []
    assert {name: each["inputs"] for name, each in found["targets"].items()} == dict.fromkeys(TARGETS, 60)
    assert found["inputs"] == 60 * len(TARGETS)
    assert result.returncode == 0, result.stdout + result.stderr


def test_one_seed_gives_the_same_inputs(project_root: Path, tmp_path: Path) -> None:
    refused = []
    for name in ("a.json", "b.json"):
        run(project_root, "qdmr", "lf", "--inputs", "200", "--seed", "7", "--output", str(tmp_path / name))
        targets = json.loads((tmp_path / name).read_text(encoding="utf-8"))["targets"]
        refused.append([each["refused"] for each in targets.values()])
    assert refused[0] == refused[1]


def test_a_slow_target_ends_in_time_and_tells_how_far_it_is(project_root: Path) -> None:
    script = """
import time, types
from tests.stress.fuzzing import running
from tests.stress.fuzzing.targets import Target

# A clock that only inputs move on: each takes a second.
seconds = [0.0]
running.time = types.SimpleNamespace(monotonic=lambda: seconds[0], perf_counter=lambda: 0.0)

def attempt(value):
    seconds[0] += 1.0

running.TARGETS = {"slow": Target(lambda pieces: "input", attempt)}
told = []
outcome = running.run_target("slow", 0, 12.0, 10**9, lambda so_far: told.append(so_far.inputs))
print(told, outcome.inputs, outcome.megabytes > 0)
"""
    result = python(project_root, script)
    assert result.stdout == "[5, 10, 12] 12 True\n", result.stdout + result.stderr


def test_an_unknown_target_is_refused(project_root: Path) -> None:
    result = run(project_root, "everything")
    assert result.returncode == 2
    assert "everything" in result.stderr


WRONG = """
import os, time
from tests.stress.fuzzing import running
from tests.stress.fuzzing.targets import Target

def attempt(value):
    {body}

running.TARGETS = {{"wrong": Target(lambda pieces: "input", attempt)}}
running.MOST_SECONDS = {most_seconds}
outcome = running.run_target("wrong", 0, 60.0, 3)
print(sorted(outcome.findings), outcome.inputs, {{each.input for each in outcome.findings.values()}})
"""


@pytest.mark.parametrize(
    ("body", "most_seconds", "told"),
    [
        ('raise IndexError("x")', 2.0, "IndexError in <string>"),
        ('assert value == "other", "not read back"', 2.0, "AssertionError in <string>"),
        ("sum(range(10000))", 0.0, "over 0 s"),
        ("os._exit(7)", 2.0, "the process died with code 7"),
        ("os.kill(os.getpid(), 9)", 2.0, "the process died with code -9"),
        ("bytearray(1200 * 2**20)", 60.0, "over 1024 MB"),
    ],
)
def test_what_should_not_be_is_told_with_its_input(
    project_root: Path, body: str, most_seconds: float, told: str
) -> None:
    result = python(project_root, WRONG.format(body=body, most_seconds=most_seconds))
    assert told in result.stdout, result.stderr
    assert "'input'" in result.stdout
