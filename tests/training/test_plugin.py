"""AllenNLP finds all components: by the file in the project's root, and by ``--include-package`` from anywhere."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

# Every class in qdecomp that AllenNLP can build, after the import that the program begins with.
_LIST = """
import json
from allennlp.common import Registrable
found = {
    f"{base.__name__} {name}": cls.__module__
    for base, classes in Registrable._registry.items()
    for name, (cls, _) in classes.items()
    if cls.__module__.startswith("qdecomp.")
}
print(json.dumps(found))
"""


def registered_after(program: str, cwd: Path) -> dict[str, str]:
    output = subprocess.run(
        [sys.executable, "-c", program + _LIST], cwd=cwd, check=True, capture_output=True, text=True
    ).stdout
    # One line: imports print nothing.
    (line,) = output.splitlines()
    found: dict[str, str] = json.loads(line)
    return found


@pytest.fixture(scope="module")
def by_plugin(project_root: Path) -> dict[str, str]:
    return registered_after("from allennlp.common.plugins import import_plugins; import_plugins()", project_root)


def test_the_file_in_the_root_is_enough(by_plugin: dict[str, str]) -> None:
    assert by_plugin["Checkpointer durable"] == "qdecomp.training.trainer"


def test_the_plugin_imports_every_module_that_registers_something(
    by_plugin: dict[str, str], project_root: Path
) -> None:
    registering = {
        path.relative_to(project_root).with_suffix("").as_posix().replace("/", ".")
        for path in (project_root / "qdecomp").rglob("*.py")
        if ".register(" in path.read_text(encoding="utf-8")
    }
    assert set(by_plugin.values()) >= {module for module in registering if not module.startswith("qdecomp.evaluation")}


def test_the_package_is_found_from_anywhere(by_plugin: dict[str, str], tmp_path: Path) -> None:
    program = "from allennlp.common.util import import_module_and_submodules as load; load('qdecomp')"
    assert registered_after(program, tmp_path) == by_plugin
    assert not list(tmp_path.iterdir())
