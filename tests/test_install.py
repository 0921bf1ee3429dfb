"""``make install``, with a Python that only records what it is asked to do."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

_FAKE_PYTHON = """#!/bin/sh
echo "$*" >>calls
case "$*" in
    *version_info*) echo {version} ;;
    *platform*) echo {version}.9 ;;
    *ensurepip*) exit {no_venv} ;;
    "-m venv --clear .venv") mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
    *"$KILL_AT"*) [ -z "$KILL_AT" ] || kill -9 $PPID ;;
esac
"""

Install = Callable[..., "subprocess.CompletedProcess[str]"]


def add_python(folder: Path, name: str, version: str, *, can_make_environments: bool = True) -> Path:
    path = folder / name
    path.write_text(_FAKE_PYTHON.format(version=version, no_venv=int(not can_make_environments)), encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def project(tmp_path: Path, project_root: Path) -> Path:
    """A copy of what the install looks at, with a Python 3.11 on the path."""
    folder = tmp_path / "project"
    (folder / "qdecomp").mkdir(parents=True)
    for name in ("Makefile", "pyproject.toml", "requirements.lock", "scripts/install.sh", "qdecomp/version.py"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(project_root / name, folder / name)
    (tmp_path / "bin").mkdir()
    add_python(tmp_path / "bin", "python3.11", "3.11")
    return folder


@pytest.fixture
def install(project: Path, tmp_path: Path) -> Install:
    def run(*variables: str, kill_at: str = "") -> subprocess.CompletedProcess[str]:
        (project / "calls").unlink(missing_ok=True)
        path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
        environment = {"PATH": path, "KILL_AT": kill_at, "HOME": str(tmp_path)}
        return subprocess.run(
            ["make", "install", *variables], cwd=project, env=environment, capture_output=True, text=True
        )

    return run


def installed(project: Path) -> list[str]:
    """What pip was asked for, in order, without the options that every call has."""
    calls = (project / "calls").read_text(encoding="utf-8").splitlines()
    common = "-m pip install -qq --disable-pip-version-check --no-input "
    return [call.removeprefix(common) for call in calls if call.startswith(common)]


def test_the_lock_is_installed_by_its_hashes_without_dependencies_and_torch_with_them(
    project: Path, install: Install
) -> None:
    assert install().returncode == 0
    read = lambda name: (project / ".venv" / name).read_text(encoding="utf-8")  # noqa: E731
    first, torch, packages, itself = installed(project)
    assert first == "--no-deps --require-hashes -r .venv/first.txt"
    assert {"setuptools", "sympy", "wheel"} <= set(re.findall(r"^(\w+)==\S+ --hash", read("first.txt"), re.MULTILINE))
    assert packages == "--no-deps --no-build-isolation --require-hashes -r .venv/packages.txt"
    pins = re.findall(r"^([\w.-]+==\S+)(.*)", (project / "requirements.lock").read_text(encoding="utf-8"), re.MULTILINE)
    assert [name for name, hashes in pins if "--hash=sha256:" not in hashes] == ["torch==2.13.0"]
    assert re.findall(r"^([\w.-]+==\S+) --hash", read("packages.txt"), re.MULTILINE) == [
        name for name, _ in pins if not name.startswith("torch==")
    ]
    assert torch == "-c .venv/pins.txt torch==2.13.0"
    assert read("pins.txt").split() == [name for name, _ in pins]
    assert itself == "--no-deps --no-build-isolation -e ."


@pytest.mark.parametrize("kill_at", ["-c .venv/pins.txt", "-r .venv/packages.txt", "-e ."])
def test_a_killed_install_starts_anew(project: Path, install: Install, kill_at: str) -> None:
    killed = install(kill_at=kill_at)
    assert killed.returncode != 0
    assert "Killed" in killed.stderr or str(int(signal.SIGKILL)) in killed.stderr
    assert install().returncode == 0
    assert len(installed(project)) == 4
    assert install().stdout == ""


def test_a_second_run_does_nothing_unless_the_metadata_changed(project: Path, install: Install) -> None:
    install()
    again = install()
    assert (again.returncode, again.stdout, installed(project)) == (0, "", [])
    with (project / "pyproject.toml").open("a", encoding="utf-8") as stream:
        stream.write("# changed\n")
    install()
    assert installed(project) == ["--no-deps --no-build-isolation -e ."]


def test_a_folder_that_was_moved_is_built_anew(project: Path, install: Install, tmp_path: Path) -> None:
    install()
    elsewhere = tmp_path / "elsewhere"
    project.rename(elsewhere)
    shutil.copytree(elsewhere, project)
    assert install().stdout == ""
    shutil.rmtree(project)
    project.symlink_to(elsewhere)
    install()
    assert len(installed(project)) == 4


def test_torch_and_python_can_be_chosen_and_the_choice_is_kept(project: Path, install: Install, tmp_path: Path) -> None:
    install()
    python = add_python(tmp_path, "my-python", "3.11")
    chosen = install(f"PYTHON={python}", "TORCH=torch===2.13.0")
    assert f"with {python}" in chosen.stdout
    assert installed(project)[1] == "-c .venv/pins.txt torch===2.13.0"
    # Without a word about them, as `make test` calls it, both stay as they were chosen.
    assert install().stdout == ""
    assert len(installed(project)) == 0


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("3.10", "Python 3.11 is needed, and {python} is 3.10"),
        (None, "Python 3.11 is needed, and {python} is missing"),
        ("3.11", "install its venv module"),
    ],
)
def test_a_python_that_cannot_work_gets_one_line_and_nothing_is_installed(
    project: Path, install: Install, tmp_path: Path, version: str | None, message: str
) -> None:
    python = add_python(tmp_path, "my-python", version, can_make_environments=False) if version else "no-such-python"
    result = install(f"PYTHON={python}")
    assert result.returncode != 0
    first, *rest = result.stderr.splitlines()
    assert message.format(python=python) in first
    assert all(line.startswith("make:") for line in rest)
    assert not (project / ".venv").exists()
