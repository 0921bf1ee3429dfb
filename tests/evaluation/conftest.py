"""The reference outputs of Break's official evaluator, and the parser that some metrics need."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.evaluation.metrics.annotation import annotate


@pytest.fixture(scope="session")
def official_rows(shared_path: Path) -> list[dict[str, Any]]:
    path = shared_path / "reference" / "break_metrics_a.jsonl"
    if not path.exists():
        pytest.skip(f"no reference outputs: {path}")
    with path.open(encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


@pytest.fixture(scope="session")
def spacy_pipeline() -> None:
    try:
        next(annotate(["red balls"]))
    except DataError as error:
        pytest.skip(str(error))
