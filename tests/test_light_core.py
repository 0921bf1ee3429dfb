"""Converting and scoring load neither torch nor AllenNLP, and heavy libraries are loaded only when they are used."""

from __future__ import annotations

import subprocess
import sys

import pytest

_PARSERS_ONLY = {"torch", "allennlp", "transformers", "tokenizers"}
_ON_FIRST_USE = {"ortools", "scipy", "spacy", "matplotlib", "pandas", "lemminflect", "huggingface_hub"}


def modules_after(program: str) -> set[str]:
    """The names of the packages that are loaded after the program has run in a separate Python."""
    program = f"import sys\n{program}\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    output = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    return set(output.split())


@pytest.mark.parametrize("module", ["qdecomp", "qdecomp.data_structures", "qdecomp.cli", "qdecomp.files"])
def test_the_first_import_is_light(module: str) -> None:
    assert not modules_after(f"import {module}") & (_PARSERS_ONLY | _ON_FIRST_USE)


def test_no_module_of_the_core_loads_what_only_parsers_need() -> None:
    loaded = modules_after(
        """
import importlib, pkgutil
names = "data_structures files evaluation decoding parsers visualization cli"
for name in names.split():
    if importlib.util.find_spec(f"qdecomp.{name}"):
        package = importlib.import_module(f"qdecomp.{name}")
        for module in pkgutil.walk_packages(package.__path__, f"qdecomp.{name}."):
            importlib.import_module(module.name)
"""
    )
    assert not loaded & _PARSERS_ONLY
    assert "qdecomp" in loaded
