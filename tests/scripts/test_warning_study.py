"""How often warnings fire is counted by kind, with the plans that are wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from scripts.warning_study import main

HEADER = "question_id,question_text,decomposition"
ROWS = (
    "A_1,Which firms are red?,return firms ;return #1 that are red",
    "A_2,Which firms are blue?,return firms ;return x ;return #1 that are blue",
    "A_3,Which firms are old?,return firms ;return #1 that are old",
)


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.csv"
    path.write_text("\n".join([HEADER, *ROWS]) + "\n", encoding="utf-8")
    return path


def test_warnings_on_gold_are_counted(gold: Path) -> None:
    shown = CliRunner().invoke(main, ["--gold", str(gold)]).output
    assert "| unused step | 1 | 33.33% | 0 |" in shown
    assert "| any of these | 1 | 33.33% | 0 |" in shown
    assert "| all plans | 3 | 100% | 0 |" in shown


def test_warnings_on_predictions_are_counted_with_those_that_are_wrong(gold: Path, tmp_path: Path) -> None:
    plans = {
        "A_1": "return firms ;return firms ;return #2 that are red",
        "A_2": "return firms ;return #1 that are blue",
        "A_3": "return firms ;return #1 that are old",
    }
    path = tmp_path / "predictions.jsonl"
    lines = [json.dumps({"question_id": name, "decomposition": plan}) for name, plan in plans.items()]
    path.write_text("\n".join(lines), encoding="utf-8")
    shown = CliRunner().invoke(main, ["--gold", str(gold), "--predictions", str(path)]).output
    assert "| repeated step | 1 | 33.33% | 1 |" in shown
    assert "| unused step | 1 | 33.33% | 1 |" in shown
    assert "| any of these | 1 | 33.33% | 1 |" in shown
    assert "| all plans | 3 | 100% | 2 |" in shown
