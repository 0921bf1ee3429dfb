"""The metric loads from its folder with the real library, without a hub."""

from __future__ import annotations

import importlib
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType

import pytest

import qdecomp

QUESTIONS = ["How many cubes are there?", "Which rivers are in Peru?"]
REFERENCES = ["return cubes ;return number of #1", "return rivers ;return #1 that are in Peru"]
PREDICTIONS = ["1. cubes\n2. the number of #1", "lakes"]


@pytest.fixture
def evaluate(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The library, which a script of this project would hide."""
    try:
        version("evaluate")
    except PackageNotFoundError:
        pytest.skip("evaluate is not installed: pip install evaluate")
    monkeypatch.setattr(sys, "path", [folder for folder in sys.path if Path(folder).name != "scripts"])
    monkeypatch.delitem(sys.modules, "evaluate", raising=False)
    return importlib.import_module("evaluate")


def test_it_gives_the_scores_of_the_package(evaluate: ModuleType, project_root: Path, tmp_path: Path) -> None:
    folder = project_root / "integrations" / "hugging_face_evaluate" / "lf_em"
    metric = evaluate.load(str(folder), cache_dir=str(tmp_path))
    found = metric.compute(
        predictions=PREDICTIONS, references=REFERENCES, questions=QUESTIONS, metrics="lf_em,lf_eq", seed=3
    )
    scores = qdecomp.evaluate(list(zip(QUESTIONS, REFERENCES, strict=True)), PREDICTIONS, "lf_em,lf_eq", seed=3)
    assert found["lf_em"] == scores["lf_em"].mean == 0.5
    assert found["lf_eq_interval"] == [scores["lf_eq"].low, scores["lf_eq"].high]
    assert found["lf_em_signature"] == scores.signature("lf_em")
