"""What ``pip install .`` gives: every file of the package, and no need for anything that it does not require."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from email.message import Message
from email.parser import Parser
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

# The packages that only the parsers' environment, requirements.lock, can import.
_PARSERS = {"data", "models", "modules", "predictors", "training", "allennlp_bridge"}
# Used if it is there, to name encoders of the Hugging Face hub.
_OPTIONAL = {"huggingface_hub"}
# Frameworks with adapters, which only requirements-adapters.txt installs, and what provides them.
_FRAMEWORKS = {"llama_index": "llama-index-core", "langchain_core": "langchain-core"}


@pytest.fixture(scope="module")
def wheel(project_root: Path, tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel, built from a copy so that nothing is left in the project."""
    copy = tmp_path_factory.mktemp("project")
    for name in ("setup.py", "pyproject.toml", "LICENSE"):
        shutil.copy(project_root / name, copy)
    shutil.copytree(project_root / "qdecomp", copy / "qdecomp", ignore=shutil.ignore_patterns("__pycache__"))
    command = ["-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index", "-w", "wheels", "."]
    subprocess.run([sys.executable, *command], cwd=copy, check=True)
    (path,) = (copy / "wheels").glob("*.whl")
    return zipfile.ZipFile(path)


@pytest.fixture(scope="module")
def metadata(wheel: zipfile.ZipFile) -> Message:
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    return Parser().parsestr(wheel.read(name).decode("utf-8"))


def test_the_wheel_holds_every_file_of_the_package(wheel: zipfile.ZipFile, project_root: Path) -> None:
    package = project_root / "qdecomp"
    files = {
        path.relative_to(project_root).as_posix()
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in wheel.namelist() if name.startswith("qdecomp/")} == files


def test_the_metadata_says_what_python_and_licence(metadata: Message) -> None:
    assert metadata["Requires-Python"] == ">=3.10"
    assert metadata["License"] == "MIT" or metadata["License-Expression"] == "MIT"


def test_everything_that_the_core_imports_is_asked_for(metadata: Message, project_root: Path) -> None:
    asked_for = {_normal(re.split(r"[^\w.-]", line)[0]) for line in metadata.get_all("Requires-Dist") or ()}
    assert not asked_for & {"torch", "allennlp", "transformers"}
    distributions = packages_distributions()
    for path, module in _imports_of_the_core(project_root / "qdecomp"):
        provided_by = {_normal(name) for name in distributions.get(module, [_FRAMEWORKS.get(module, "")])}
        assert provided_by & asked_for, f"{path.name} imports {module}, which setup.py does not ask for"


def test_extras_have_names_that_every_pip_finds_and_the_readme_has_them(metadata: Message, project_root: Path) -> None:
    extras = metadata.get_all("Provides-Extra") or []
    assert extras
    readme = (project_root / "README.md").read_text(encoding="utf-8")
    for extra in extras:
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", extra), f"an old pip does not find the extra {extra}"
        assert f"[{extra}]" in readme


def _imports_of_the_core(package: Path) -> Iterator[tuple[Path, str]]:
    for path in package.rglob("*.py"):
        if path.relative_to(package).parts[0] in _PARSERS:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                names = [node.module]
            for name in names:
                module = name.partition(".")[0]
                if module not in sys.stdlib_module_names and module not in {"qdecomp", *_OPTIONAL}:
                    yield path, module


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
