"""The suite itself: it reads nothing outside the clone, and a test that did would fail."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.shared_data import SWITCH

_TESTS = """
import subprocess
import sys
from pathlib import Path

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "rows.csv"


def test_inside(tmp_path):
    (tmp_path / "x").write_text(Path(__file__).read_text())


def test_opens_a_file():
    BESIDE.read_text()


def test_lists_a_folder():
    list(BESIDE.parent.iterdir())


def test_starts_a_process():
    subprocess.run([sys.executable, "-c", f"open({str(BESIDE)!r})"], check=True)


def test_asks_for_the_shared_data(shared_path):
    assert (shared_path / "rows.csv").read_text() == "rows"
"""


@pytest.fixture
def clone(tmp_path: Path, project_root: Path) -> Path:
    """A clone with the suite's own set-up and a few tests, next to a folder of data."""
    clone = tmp_path / "clone"
    (clone / "tests").mkdir(parents=True)
    for name in (
        "tests/__init__.py",
        "tests/conftest.py",
        "tests/trainings.py",
        "tests/guard",
        "scripts/shared_data.py",
        "pyproject.toml",
    ):
        (clone / name).parent.mkdir(exist_ok=True)
        copy = shutil.copytree if (project_root / name).is_dir() else shutil.copy
        copy(project_root / name, clone / name)
    (clone / "qdecomp").symlink_to(project_root / "qdecomp")
    (clone / "tests" / "test_reads.py").write_text(_TESTS, encoding="utf-8")
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "rows.csv").write_text("rows", encoding="utf-8")
    (tmp_path / "temporary").mkdir()
    return clone


def outcomes(clone: Path, *options: str, **variables: str) -> tuple[int, dict[str, str]]:
    """The exit code of the clone's tests, and how each of them ended."""
    kept = {name: value for name, value in os.environ.items() if name not in (SWITCH, "PYTEST_XDIST_WORKER")}
    # This clone has its own temporary folder, because its neighbours would otherwise be inside it.
    environment = kept | {"PYTHONPATH": str(clone), "TMPDIR": str(clone.parent / "temporary")} | variables
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "-p", "no:xdist", "tests/test_reads.py"]
    result = subprocess.run([*command, *options], cwd=clone, env=environment, capture_output=True, text=True)
    lines = re.findall(r"::test_(\w+) (PASSED|FAILED|ERROR|SKIPPED)", result.stdout)
    assert lines, result.stdout + result.stderr
    return result.returncode, dict(lines)


def test_a_test_that_reads_beside_the_clone_fails(clone: Path) -> None:
    code, ended = outcomes(clone)
    assert code == 1
    assert ended["inside"] == "PASSED"
    assert {ended[name] for name in ("opens_a_file", "lists_a_folder", "starts_a_process")} == {"ERROR"}
    assert ended["asks_for_the_shared_data"] == "SKIPPED"


def test_the_switch_opens_the_folder_that_it_names_and_marks_its_tests(clone: Path) -> None:
    code, ended = outcomes(clone, "-m", "shared_data", **{SWITCH: "../shared"})
    assert (code, ended) == (0, {"asks_for_the_shared_data": "PASSED"})
