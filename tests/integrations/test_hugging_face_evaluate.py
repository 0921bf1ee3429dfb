"""The metric loads from its folder with the real library, without a hub."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integrations.frameworks import require

require("evaluate")

import evaluate  # noqa: E402

import qdecomp  # noqa: E402

QUESTIONS = ["How many cubes are there?", "Which rivers are in Peru?"]
REFERENCES = ["return cubes ;return number of #1", "return rivers ;return #1 that are in Peru"]
PREDICTIONS = ["1. cubes\n2. the number of #1", "lakes"]


def test_it_gives_the_scores_of_the_package(
    project_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_EVALUATE_OFFLINE", "1")
    folder = project_root / "integrations" / "hugging_face_evaluate" / "lf_em"
    metric = evaluate.load(str(folder), cache_dir=str(tmp_path))
    found = metric.compute(
        predictions=PREDICTIONS, references=REFERENCES, questions=QUESTIONS, metrics="lf_em,lf_eq", seed=3
    )
    scores = qdecomp.evaluate(list(zip(QUESTIONS, REFERENCES, strict=True)), PREDICTIONS, "lf_em,lf_eq", seed=3)
    assert found["lf_em"] == scores["lf_em"].mean == 0.5
    assert found["lf_eq_interval"] == [scores["lf_eq"].low, scores["lf_eq"].high]
    assert found["lf_em_signature"] == scores.signature("lf_em")
