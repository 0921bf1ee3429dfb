"""Questions without decompositions become training rows, if the parsers are sure of their plans and agree."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from qdecomp.files import read_break_csv
from qdecomp.parsers.decomposition import Decomposition, decomposition_from_text, failed_decomposition
from scripts.distill import main, problem_of, says_the_same

QUESTION = "How many red cubes are there?"
PLAN = "return cubes ;return #1 that are red ;return number of #2"
SAME_IN_OTHER_WORDS = "return cubes ;return #1 that is red ;return the number of #2"
OTHER = "return balls ;return #1 that are red ;return number of #2"


def plan(text: str, probability: float = 0.9) -> Decomposition:
    return replace(decomposition_from_text(QUESTION, text), confidence=probability)


@pytest.mark.parametrize(
    ("prediction", "expected"),
    [
        (plan(PLAN), None),
        (plan(PLAN, 0.6), "not sure enough"),
        (plan("return cubes ;return balls ;return number of #2"), "a warning"),
        (failed_decomposition(QUESTION, "not a question"), "no plan"),
    ],
)
def test_what_is_kept(prediction: Decomposition, expected: str | None) -> None:
    assert problem_of(QUESTION, prediction, 0.7) == expected


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (plan(SAME_IN_OTHER_WORDS, 0.1), True),
        (plan(OTHER), False),
        (failed_decomposition(QUESTION, "not a question"), False),
    ],
)
def test_which_plans_agree(other: Decomposition, expected: bool) -> None:
    assert says_the_same(QUESTION, plan(PLAN), other) is expected


def distilled(*options: object) -> Result:
    result = CliRunner().invoke(main, [str(option) for option in options])
    assert result.exit_code == 0, result.output
    return result


def test_questions_of_the_sample_become_rows(tmp_path: Path, project_root: Path) -> None:
    output = tmp_path / "distilled.csv"
    files = [project_root / "data" / name for name in ("questions.txt", "dev.csv")]
    result = distilled(*files, "--output", output, "--min-confidence", 0.4)
    rows = read_break_csv(output)
    assert f"{len(rows)} plans kept" in result.output
    assert {row.source for row in rows} == {"QUESTIONS", "DEV"}
    assert all(row.decomposition for row in rows)
    surer = distilled(*files, "--output", output, "--min-confidence", 0.7)
    assert "from an earlier run" in surer.output
    fewer = read_break_csv(output)
    assert 0 < len(fewer) < len(rows)
    assert {row.question_id for row in fewer} < {row.question_id for row in rows}


def test_another_parser_is_asked_about_what_is_left(tmp_path: Path, project_root: Path) -> None:
    output = tmp_path / "distilled.csv"
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"kind": "consensus", "parsers": [{"parser": "minilm_break", "candidates": 1}]}))
    questions = project_root / "data" / "questions.txt"
    options = (questions, "--output", output, "--min-confidence", 0.5, "--parser", "minilm_break")
    distilled(*options)
    alone = output.read_text()
    assert distilled(*options, "--parser", other).output.count("0 without a decomposition") == 2
    assert output.read_text() == alone
    asked = (tmp_path / "distilled.csv.records" / "2_from_0.5.jsonl").read_text().splitlines()
    assert len(asked) == len(read_break_csv(output))


def test_questions_to_measure_on_are_left_out(tmp_path: Path) -> None:
    held_out = tmp_path / "held_out.csv"
    held_out.write_text("question_id,question_text\nCLEVR_1,Which cubes are red?\nCLEVR_2,Are there balls?\n")
    questions = tmp_path / "questions.csv"
    questions.write_text(
        "question_id,question_text\nA_1,which cubes are red ?\nCLEVR_2_de,Do balls exist there?\n"
        "CLEVR_20_de,How many balls are there?\nA_2,how many balls are there\n"
    )
    distilled(questions, "--output", tmp_path / "rows.csv", "--leave-out", held_out, "--min-confidence", 0)
    asked = (tmp_path / "rows.csv.records" / "1_questions.jsonl").read_text().splitlines()
    assert [json.loads(line)["question_id"] for line in asked] == ["QUESTIONS_CLEVR_20_de"]


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    files = [tmp_path / "questions.txt", tmp_path / "questions.csv"]
    for path in files:
        path.write_text("question\nHow many cubes are red?\n")
    result = CliRunner().invoke(main, [*map(str, files), "--output", str(tmp_path / "rows.csv")])
    assert "must differ" in str(result.exception)
