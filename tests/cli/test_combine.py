from __future__ import annotations

import json
import math
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.cli_runs import json_lines, run_qdecomp

run = partial(run_qdecomp, "combine")

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
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    first = write(tmp_path / "a.jsonl", dict.fromkeys(QUESTIONS, (WRONG, 0.5)))
    second = write(tmp_path / "b.jsonl", {"0": (RIGHT, 0.3), "2": (RIGHT, 0.3)}, with_question=False)
    third = write(tmp_path / "c.jsonl", {"0": (SAME, 0.4), "1": (None, 0.4), "2": (SAME, 0.4)})
    return [str(path) for path in (first, second, third)]


def test_the_files_can_be_named_without_the_option(files: list[str], tmp_path: Path) -> None:
    plain, named = tmp_path / "plain.jsonl", tmp_path / "named.jsonl"
    assert run(*files, "--output", str(plain)) == 0
    assert run("--predictions", *files, "--output", str(named)) == 0
    assert plain.read_text() == named.read_text()


def test_it_writes_a_record_for_every_question(files: list[str], tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    assert run("--predictions", *files, "--output", str(output)) == 0
    records = json_lines(output)
    assert [record["question_id"] for record in records] == ["0", "1", "2"]
    assert [record["decomposition"] for record in records] == [SAME, WRONG, SAME]
    assert records[0]["candidates"][0]["decomposition"] == SAME
    assert records[0]["logical_form"]
    assert records[0]["score"] == pytest.approx(math.log(0.7 / 3))


def test_what_language_models_write_is_read(tmp_path: Path) -> None:
    written = "Sure!\n1. Find all cubes.\n2. Which of [1] are red?\n3. How many [2] are there?"
    first = write(tmp_path / "a.jsonl", {"0": (WRONG, 0.5)})
    others = [write(tmp_path / f"{name}.jsonl", {"0": (written, 0.4)}) for name in "bc"]
    output = tmp_path / "out.jsonl"
    assert run("--predictions", *map(str, (first, *others)), "--output", str(output)) == 0
    assert json_lines(output)[0]["decomposition"] == RIGHT


def test_weights_and_an_output_that_was_cut_off(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    output = tmp_path / "out.jsonl"
    arguments = ("--predictions", *files, "--output", str(output), "--weights", "3,1,1")
    assert run(*arguments) == 0
    assert [record["decomposition"] for record in json_lines(output)] == [WRONG] * 3
    whole = output.read_bytes()
    output.write_bytes(whole[: len(whole) // 2])
    assert run(*arguments) == 0
    assert output.read_bytes() == whole
    assert "from an earlier run" in capsys.readouterr().err
    assert run(*arguments[:-1], "1,1,1") == 2
    assert output.read_bytes() == whole


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
def test_a_mistake_is_said(files: list[str], change: Any, message: str, capsys: pytest.CaptureFixture) -> None:
    before = Path(files[0]).read_bytes()
    assert run(*change(files)) == 2
    assert message in capsys.readouterr().err
    assert Path(files[0]).read_bytes() == before


def test_rows_without_or_with_the_same_id_are_said(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    path = tmp_path / "a.jsonl"
    for line, message in (
        ('{"decomposition": "return a"}\n', "row 1 has no question_id"),
        ('{"question_id": "1", "question": "a", "decomposition": "return a"}\n' * 2, "row 2 repeats the question_id"),
        ("[]\n", "row 1: a JSON list, not an object"),
        ("5\n", "row 1: a JSON int, not an object"),
    ):
        path.write_text(line, encoding="utf-8")
        assert run("--predictions", str(path), str(path), "--output", str(tmp_path / "x")) == 2
        assert message in capsys.readouterr().err


def test_a_file_without_predictions_is_said(files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    (tmp_path / "empty.jsonl").write_text("\n", encoding="utf-8")
    assert run(*files, str(tmp_path / "empty.jsonl"), "--output", str(tmp_path / "out.jsonl")) == 0
    assert f"{tmp_path / 'empty.jsonl'}: warning: there are no predictions in it" in capsys.readouterr().err


def test_equal_ids_of_different_questions_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    one = write(tmp_path / "a.jsonl", {"0": (RIGHT, 0.5)})
    other = tmp_path / "b.jsonl"
    other.write_text(one.read_text().replace("red cubes", "blue balls"), encoding="utf-8")
    assert run(str(one), str(other), "--output", str(tmp_path / "out.jsonl")) == 2
    assert "are these predictions for the same questions?" in capsys.readouterr().err
    assert not (tmp_path / "out.jsonl").exists()
