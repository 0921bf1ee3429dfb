"""The files that tools outside the project read: they are well-formed and name things that exist."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from qdecomp.version import VERSION
from tests.conftest import SLOW


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_the_citation_names_the_paper_and_this_version(project_root: Path) -> None:
    citation = read(project_root / "CITATION.cff")
    assert citation["version"] == VERSION
    paper = citation["preferred-citation"]
    assert paper["title"] == "Question Decomposition with Dependency Graphs"
    assert [author["family-names"] for author in paper["authors"]] == ["Hasson", "Berant"]


def test_the_workflow_and_the_check_run_targets_of_the_makefile(project_root: Path) -> None:
    workflow = read(project_root / ".github" / "workflows" / "check.yml")
    commands = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]
    assert commands == [".ci/run", "make adapters", "make docs"]
    script = (project_root / ".ci" / "run").read_text(encoding="utf-8")
    targets = {"adapters", "docs", "test", "slow", *re.findall(r"^make (\w+)", script, re.MULTILINE)}
    makefile = (project_root / "Makefile").read_text(encoding="utf-8")
    assert [target for target in sorted(targets) if f"\n{target}: " not in makefile] == []


def test_slow_tests_are_where_the_suite_looks_for_them(project_root: Path) -> None:
    assert [name for name in SLOW if not (project_root / name).exists()] == []


def test_the_frameworks_of_the_adapters_go_with_the_lock(project_root: Path) -> None:
    locked, adapters = (
        dict(re.findall(r"^([\w.-]+)==(\S+)", (project_root / name).read_text(encoding="utf-8").lower(), re.MULTILINE))
        for name in ("requirements.lock", "requirements-adapters.txt")
    )
    assert {"llama-index-core", "langchain-core"} <= set(adapters)
    assert {name: locked[name] for name in adapters if locked.get(name, adapters[name]) != adapters[name]} == {}


def test_hooks_call_programs_of_the_environment(project_root: Path) -> None:
    config = read(project_root / ".pre-commit-config.yaml")
    words = [hook["entry"].split() for repository in config["repos"] for hook in repository["hooks"]]
    assert words
    assert all(entry[0].startswith(".venv/bin/") for entry in words)
