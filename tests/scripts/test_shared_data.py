from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from qdecomp.data_structures.errors import DataError
from scripts.shared_data import SWITCH, from_shared_data, shared_data


def test_the_switch_names_the_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(SWITCH, str(tmp_path))
    assert shared_data() == tmp_path
    assert from_shared_data("--gold", "break", "dev.csv")() == tmp_path / "break" / "dev.csv"


@pytest.mark.parametrize("value", [None, ""])
def test_without_the_switch_there_is_no_shared_data(monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    if value is None:
        monkeypatch.delenv(SWITCH, raising=False)
    else:
        monkeypatch.setenv(SWITCH, value)
    assert shared_data() is None


def test_a_switch_that_names_nothing_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(SWITCH, str(tmp_path / "none"))
    with pytest.raises(DataError, match=f"{SWITCH} names no folder"):
        shared_data()


@pytest.mark.parametrize(
    ("benchmark", "needs", "option"),
    [
        (("conversion",), "break/train.csv", "--input"),
        (("inference", "--parser", "x", "x.tar.gz", "{}"), "break/dev.csv", "--questions"),
        (("metrics",), "reference", "--reference"),
        (("parse",), "break/dev.csv", "--questions"),
    ],
)
def test_a_benchmark_without_data_says_which_it_needs(
    project_root: Path, benchmark: tuple[str, ...], needs: str, option: str
) -> None:
    script = project_root / "scripts" / "benchmark.py"
    environment = {name: value for name, value in os.environ.items() if name != SWITCH}
    result = subprocess.run(
        [sys.executable, str(script), *benchmark], capture_output=True, text=True, check=False, env=environment
    )
    assert result.returncode == 2
    assert f"this benchmark needs {needs} (" in result.stderr
    assert f"name your own with {option}, or set {SWITCH}" in result.stderr
    assert result.stderr.count("\n") == 1
