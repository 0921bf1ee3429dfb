from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.cli_runs import json_lines, refusal, run_qdecomp, write_json_lines

run, refused = partial(run_qdecomp, "combine"), partial(refusal, "combine")

RIGHT = "return cubes ;return #1 that are red ;return number of #2"
SAME = "return red cubes ;return the number of #1"
WRONG = "return cubes ;return number of #1"
QUESTIONS = {str(number): f"How many red cubes are in box {number}?" for number in range(3)}


def write(path: Path, answers: dict[str, tuple[str | None, float]], with_question: bool = True) -> Path:
    records = [
        {"question_id": number, "decomposition": text, "score": math.log(probability)}
        | ({"question": QUESTIONS[number]} if with_question else {})
        for number, (text, probability) in answers.items()
    ]
    return write_json_lines(path, records)


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    first = write(tmp_path / "a.jsonl", dict.fromkeys(QUESTIONS, (WRONG, 0.5)))
    second = write(tmp_path / "b.jsonl", {"0": (RIGHT, 0.3), "2": (RIGHT, 0.3)}, with_question=False)
    third = write(tmp_path / "c.jsonl", {"0": (SAME, 0.4), "1": (None, 0.4), "2": (SAME, 0.4)})
    return [str(path) for path in (first, second, third)]


def test_it_writes_a_record_for_every_question(files: list[str], tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    assert run(*files, "--output", str(output)) == 0
    records = json_lines(output)
    assert [record["question_id"] for record in records] == ["0", "1", "2"]
    assert [record["decomposition"] for record in records] == [SAME, WRONG, SAME]
    assert records[0]["candidates"][0]["decomposition"] == SAME
    assert records[0]["logical_form"]
    assert records[0]["score"] == pytest.approx(math.log(0.7 / 3))


def test_weights_are_part_of_what_an_output_was_made_with(files: list[str], tmp_path: Path) -> None:
    arguments = ("--predictions", *files, "--output", tmp_path / "out.jsonl", "--weights")
    assert run(*arguments, "3,1,1") == 0
    assert [record["decomposition"] for record in json_lines(tmp_path / "out.jsonl")] == [WRONG] * 3
    assert "made from other input or with other settings" in refused(*arguments, "1,1,1")


def test_weights_are_learned_on_gold(files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    gold = tmp_path / "gold.csv"
    rows = "".join(f'{number},"{question}","{SAME}"\n' for number, question in QUESTIONS.items())
    gold.write_text("question_id,question_text,decomposition\n" + rows, encoding="utf-8")
    output = tmp_path / "out.jsonl"
    arguments = ("--predictions", files[0], files[1], "--learn-weights", str(gold), "--output", str(output))
    assert run(*arguments) == 0
    assert "weights learned on 3 questions: " in capsys.readouterr().out
    assert [record["decomposition"] for record in json_lines(output)] == [RIGHT, WRONG, RIGHT]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda files: ["--output", "x"], "two or more systems"),
        (lambda files: ["--predictions", files[0], "--output", "x"], "two or more systems"),
        (lambda files: ["--predictions", *files], "give --output"),
        (lambda files: ["--predictions", *files, "--output", files[0]], "--output would overwrite"),
        (lambda files: ["--predictions", *files, "--output", "x", "--weights", "1,a,2"], "give numbers"),
        (lambda files: ["--predictions", *files, "--output", "x", "--weights", "1,2"], "3 systems and 2 weights"),
        (lambda files: ["--predictions", files[1], files[1], "--output", "x"], "no file has the text of question 0"),
    ],
)
def test_a_mistake_is_said(files: list[str], change: Any, message: str) -> None:
    before = Path(files[0]).read_bytes()
    assert message in refused(*change(files))
    assert Path(files[0]).read_bytes() == before


def test_rows_without_or_with_the_same_id_are_said(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    for line, message in (
        ('{"decomposition": "return a"}\n', "row 1 has no question_id"),
        ('{"question_id": "1", "question": "a", "decomposition": "return a"}\n' * 2, "row 2 repeats the question_id"),
        ("[]\n", "row 1: a JSON list, not an object"),
        ("5\n", "row 1: a JSON int, not an object"),
    ):
        path.write_text(line, encoding="utf-8")
        assert message in refused("--predictions", path, path, "--output", tmp_path / "x")


def test_a_file_without_predictions_is_said(files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    (tmp_path / "empty.jsonl").write_text("\n", encoding="utf-8")
    assert run(*files, str(tmp_path / "empty.jsonl"), "--output", str(tmp_path / "out.jsonl")) == 0
    assert f"{tmp_path / 'empty.jsonl'}: warning: there are no predictions in it" in capsys.readouterr().err


def test_equal_ids_of_different_questions_are_refused(tmp_path: Path) -> None:
    one = write(tmp_path / "a.jsonl", {"0": (RIGHT, 0.5)})
    other = tmp_path / "b.jsonl"
    other.write_text(one.read_text().replace("red cubes", "blue balls"), encoding="utf-8")
    told = refused(one, other, "--output", tmp_path / "out.jsonl")
    assert "are these predictions for the same questions?" in told
    assert not (tmp_path / "out.jsonl").exists()
