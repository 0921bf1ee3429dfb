"""The Dockerfile: it is consistent, and its steps work in a clean environment without docker."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from tests.service.processes import running_service

PREFIX = "/opt/qdecomp"
PORT = "8000"


@dataclass(frozen=True, slots=True)
class Instruction:
    """A line of the Dockerfile, with its continuations."""

    name: str
    text: str

    def words(self) -> list[str]:
        """The arguments, whichever form they are written in."""
        return json.loads(self.text) if self.text.startswith("[") else shlex.split(self.text)


@pytest.fixture(scope="module")
def dockerfile(project_root: Path) -> list[Instruction]:
    lines = (project_root / "Dockerfile").read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if not line.startswith("#")).replace("\\\n", " ")
    return [Instruction(*line.split(" ", 1)) for line in text.splitlines() if line]


def all_of(dockerfile: list[Instruction], name: str) -> list[Instruction]:
    return [each for each in dockerfile if each.name == name]


def copied(dockerfile: list[Instruction]) -> list[str]:
    """The files and folders of the project that the image is built from."""
    words = [each.words() for each in all_of(dockerfile, "COPY")]
    return [source for each in words if not each[0].startswith("--from") for source in each[:-1]]


def health_command(dockerfile: list[Instruction]) -> list[str]:
    (check,) = all_of(dockerfile, "HEALTHCHECK")
    return Instruction("CMD", check.text.partition(" CMD ")[2].strip()).words()


def test_what_it_copies_is_there_and_nothing_else_is_sent(dockerfile: list[Instruction], project_root: Path) -> None:
    names = copied(dockerfile)
    assert all((project_root / name).exists() for name in names)
    lines = (project_root / ".dockerignore").read_text(encoding="utf-8").splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    assert rules[0] == "*"
    assert {rule[1:] for rule in rules if rule.startswith("!")} == set(names)
    assert any(fnmatch("qdecomp/__pycache__", rule) for rule in rules[1:])


def test_its_steps_give_a_service_that_is_healthy(
    dockerfile: list[Instruction], project_root: Path, tmp_path: Path
) -> None:
    pytest.importorskip("uvicorn", reason="the service is not installed: pip install '.[serve]'")
    build(dockerfile, project_root, tmp_path)
    empty = tmp_path / "empty"
    empty.mkdir()
    (env,) = all_of(dockerfile, "ENV")
    pairs = [word.replace(PREFIX, str(tmp_path / "environment")).partition("=") for word in env.words()]
    # The variables of ENV alone.
    variables = {name: value for name, _, value in pairs} | {"HOME": str(empty), "TMPDIR": str(empty)}

    def in_place(command: list[str], port: int) -> list[str]:
        words = [word.replace(PORT, str(port)) for word in command]
        return [shutil.which(words[0], path=variables["PATH"]) or words[0], *words[1:]]

    entry = in_place(all_of(dockerfile, "ENTRYPOINT")[0].words(), 0)
    assert entry[0].startswith(str(tmp_path))
    with running_service(command=entry, cwd=empty, env=variables) as service:
        health = in_place(health_command(dockerfile), service.port)
        subprocess.run(health, check=True, cwd=empty, env=variables)
        question = json.dumps({"question": "How many red cubes are there?"}).encode()
        request = Request(f"http://127.0.0.1:{service.port}/parse", question, {"Content-Type": "application/json"})
        with urlopen(request) as answer:
            assert "cubes" in answer.read().decode()
        assert service.stop()[0] == 0
    assert subprocess.run(health, cwd=empty, env=variables, capture_output=True).returncode != 0


def build(dockerfile: list[Instruction], project_root: Path, folder: Path) -> None:
    """Run COPY and RUN of the first stage below a folder, without a network, with the packages of this environment."""
    source = folder / "src"
    source.mkdir()
    for name in copied(dockerfile):
        if (project_root / name).is_dir():
            shutil.copytree(project_root / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(project_root / name, source)
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    variables |= {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0"}
    for step in all_of(dockerfile, "RUN"):
        command = step.text.replace(PREFIX, str(folder / "environment"))
        command = re.sub(r"^python ", f"{shlex.quote(sys.executable)} ", command)
        subprocess.run(command, shell=True, check=True, cwd=source, env=variables, capture_output=True)
        if "venv" in command:
            (packages,) = (folder / "environment").glob("lib/*/site-packages")
            # That of a new environment is too old; in an image, pip builds with a newer one.
            shutil.rmtree(packages / "setuptools")
            (packages / "these.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
