"""High-level QDMR, whose steps hold what several low-level ones would, by the same commands."""

from __future__ import annotations

from pathlib import Path

from qdecomp.data_structures.lf_em import lf_em
from qdecomp.terminal import format_csv
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


def test_long_steps_become_graphs(tmp_path: Path) -> None:
    rows, output = tmp_path / "high_level.csv", tmp_path / "graphs.jsonl"
    rows.write_text(format_csv(("question_id", "question_text", "decomposition"), ROWS))
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
    # A low-level plan can match.
    assert lf_em(ROWS[0][1], LOW_LEVEL, ROWS[0][2]).verdict
