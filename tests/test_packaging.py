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
_PARSERS = {"training"}
# Used if it is there, to name encoders of the Hugging Face hub.
_OPTIONAL = {"huggingface_hub"}
# Frameworks with adapters, which only requirements-adapters.txt installs, and what provides them.
_FRAMEWORKS = {
    "dspy": "dspy",
    "haystack": "haystack-ai",
    "mcp": "mcp",
    "llama_index": "llama-index-core",
    "langchain_core": "langchain-core",
}


@pytest.fixture(scope="module")
def wheel(project_root: Path, tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel, built from a copy so that nothing is left in the project."""
    copy = tmp_path_factory.mktemp("project")
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
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


def test_the_metadata_names_the_distribution_its_licence_and_its_python(metadata: Message) -> None:
    assert metadata["Name"] == "question-decomposition"
    assert metadata["Requires-Python"] == ">=3.10"
    assert metadata["License-Expression"] == "MIT"
    assert metadata.get_payload().startswith("# qdecomp\n")


def test_no_file_says_to_install_the_package_of_that_name_on_pypi(project_root: Path) -> None:
    """``qdecomp`` on PyPI is another project."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=project_root, capture_output=True, text=True)
    if listed.returncode:
        names = [str(path) for path in project_root.rglob("*.*") if ".venv" not in path.parts and path.is_file()]
    else:
        names = listed.stdout.strip("\0").split("\0")
    assert len(names) > 100
    hint = re.compile(rb"""pip3? install [^\n]*['" ]qdecomp['"\[=<> \n]|qdecomp\[[a-z]""")
    wrong = [
        name for name in names if (project_root / name).is_file() and hint.search((project_root / name).read_bytes())
    ]
    assert wrong == []


@pytest.mark.parametrize("theirs_on_top", [False, True])
def test_the_other_package_in_the_same_folder_is_refused_in_one_line(
    wheel: zipfile.ZipFile, tmp_path: Path, theirs_on_top: bool
) -> None:
    wheel.extractall(tmp_path)
    (tmp_path / "qdecomp-1.0.1.dist-info").mkdir()
    if theirs_on_top:
        (tmp_path / "qdecomp" / "__init__.py").write_text('__version__ = "1.0.1"\n', encoding="utf-8")
    ended = _run_from(tmp_path, "from qdecomp.cli import main")
    assert ended.returncode == 1
    last = ended.stderr.splitlines()[-1]
    assert last.startswith("ImportError: question-decomposition and the unrelated PyPI package qdecomp are installed")
    (tmp_path / "qdecomp-1.0.1.dist-info").rmdir()
    assert theirs_on_top or _run_from(tmp_path, "from qdecomp.cli import main").returncode == 0


def test_an_older_python_is_told_which_one_is_needed(project_root: Path) -> None:
    program = """
import sys
sys.version_info = (3, 9, 18, "final", 0)
import qdecomp
"""
    ended = _run_from(project_root, program)
    assert ended.stderr.splitlines()[-1] == "ImportError: qdecomp needs Python 3.10 or later; this is Python 3.9"
    for name in ("__init__.py", "version.py"):
        ast.parse((project_root / "qdecomp" / name).read_text(encoding="utf-8"), feature_version=(3, 8))


def test_everything_that_the_core_imports_is_asked_for(metadata: Message, project_root: Path) -> None:
    asked_for = {_normal(re.split(r"[^\w.-]", line)[0]) for line in metadata.get_all("Requires-Dist") or ()}
    assert not asked_for & {"torch", "allennlp", "transformers"}
    distributions = packages_distributions()
    for path, module in _imports_of_the_core(project_root / "qdecomp"):
        provided_by = {_normal(name) for name in distributions.get(module, [_FRAMEWORKS.get(module, "")])}
        assert provided_by & asked_for, f"{path.name} imports {module}, which pyproject.toml does not ask for"


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
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in tree.body:
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                node.body = []
        for node in ast.walk(tree):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                names = [node.module]
            for name in names:
                module = name.partition(".")[0]
                if module not in sys.stdlib_module_names and module not in {"qdecomp", *_OPTIONAL}:
                    yield path, module


def _run_from(folder: Path, program: str) -> subprocess.CompletedProcess[str]:
    """Run a program with the packages of a folder before all others."""
    program = f"import sys; sys.path.insert(0, {str(folder)!r})\n{program}"
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=folder)


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
