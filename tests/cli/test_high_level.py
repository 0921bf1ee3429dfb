"""High-level QDMR, whose steps hold what several low-level ones would, by the same commands."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from qdecomp.data_structures.lf_em import lf_em
from tests.cli_runs import json_lines, run_qdecomp

ROWS = [
    ("HOTPOT_dev_1", "Who directed the film that won the award in 1994?",
     "return film that won the award in 1994 ;return who directed #1"),
    ("HOTPOT_dev_2", "Are the river Tamar and the river Exe both in Devon?",
     "return if river Tamar is in Devon ;return if river Exe is in Devon ;return if both #1 and #2 are true"),
    ("DROP_dev_3", "How many yards longer was the longest field goal than the shortest one?",
     "return yards of longest field goal ;return yards of the shortest field goal ;return difference of #1 and #2"),
    ("CWQ_dev_4", "In which city is the stadium of the team that Ann Lee coached?",
     "return team that Ann Lee coached ;return stadium of #1 ;return city of #2"),
]  # fmt: skip
LOW_LEVEL = "return films ;return #1 that won the award ;return #2 in 1994 ;return who directed #3"


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "high_level.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(("question_id", "question_text", "decomposition"))
        writer.writerows(ROWS)
    return path


def test_long_steps_become_graphs(rows: Path) -> None:
    output = rows.with_suffix(".jsonl")
    assert run_qdecomp("convert", "--input", rows, "--output", output, "--processes", 1) == 0
    records = json_lines(output)
    assert [record["error"] for record in records] == [None] * len(ROWS)
    assert records[0]["logical_form"] == [
        "SELECT[](sub=film that won the award in 1994)",
        "PROJECT[](sub=#1, projection=who directed)",
    ]
    # A question about the world is read as a description, since nothing that it refers to is true or false.
    assert records[1]["logical_form"][0] == "SELECT[](sub=if river Tamar is in Devon)"
    assert records[1]["logical_form"][2] == "BOOLEAN[and-true](sub=#1, sub=#2)"


def test_a_low_level_plan_can_match() -> None:
    _, question, gold = ROWS[0]
    assert lf_em(question, LOW_LEVEL, gold).verdict
