"""Converting and scoring load neither torch nor AllenNLP, and heavy libraries are loaded only when they are used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli_runs import json_lines

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


# Runs a program as if only what `pip install .` brings were installed.
_ALONE = """
import sys
from importlib.abc import MetaPathFinder
class Missing(MetaPathFinder):
    def find_spec(self, fullname, path, target=None):
        if fullname.partition(".")[0] in {names!r}:
            raise ModuleNotFoundError(fullname, name=fullname)
sys.meta_path.insert(0, Missing())
"""
_NOT_IN_THE_CORE = sorted(
    {"ortools", "scipy", "networkx", "pandas", "matplotlib", "spacy", "torch", "allennlp", "transformers"}
    | {"tokenizers", "onnxruntime", "safetensors", "pyarrow", "fsspec", "dask", "fastapi", "pydantic", "sklearn"}
)


def run_alone(program: str) -> subprocess.CompletedProcess[str]:
    code = _ALONE.format(names=set(_NOT_IN_THE_CORE)) + program
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


def test_scoring_needs_no_solver_and_no_other_large_library(tmp_path: Path) -> None:
    gold, predictions = tmp_path / "gold.csv", tmp_path / "predictions.jsonl"
    gold.write_text(
        "question_id,question_text,decomposition\n"
        "GEO_1,How many red cubes are there?,return cubes ;return #1 that are red ;return number of #2\n"
    )
    predictions.write_text('{"question_id": "GEO_1", "decomposition": ["red cubes", "the number of #1"]}\n')
    arguments = [
        *("evaluate", "--gold", str(gold), "--predictions", str(predictions)),
        *("--metrics", "em,sari,lf_em,lf_eq", "--details", str(tmp_path / "details.jsonl")),
    ]
    run = run_alone(f"from qdecomp.cli import main\nsys.argv = ['qdecomp', *{arguments!r}]\nmain()")
    assert run.returncode == 0, run.stderr
    (details,) = json_lines(tmp_path / "details.jsonl")
    assert (details["lf_em"], details["lf_eq"], details["exact_match"]) == (True, True, False)


@pytest.mark.parametrize(
    ("program", "extra"),
    [
        (
            "from qdecomp.data_structures.conversion.chain import convert\n"
            "convert('town of a city town in a city', 'return city town ;return city town of #1')",
            "convert",
        ),
        ("import qdecomp.decoding.graph_program", "convert"),
        (
            "from qdecomp.data_structures.dependency_graph import DependencyGraph\n"
            "from qdecomp.data_structures.graph_codecs import dependency_graph_to_networkx\n"
            "dependency_graph_to_networkx(DependencyGraph(('a',)))",
            "graphs",
        ),
    ],
    ids=["alignment", "ilp", "networkx"],
)
def test_what_needs_more_says_how_to_install_it(program: str, extra: str) -> None:
    hint = f"needs more packages: pip install 'question-decomposition[{extra}]' (in a clone: pip install '.[{extra}]')"
    assert run_alone(program).stderr.strip().endswith(hint)
