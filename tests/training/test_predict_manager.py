"""``allennlp predict`` writes one record for every question of a file."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from allennlp.commands import main
from allennlp.predictors import Predictor

from qdecomp.data_structures.errors import DataError
from qdecomp.training.commands import PredictManager
from qdecomp.training.predictor import QuestionDecompositionPredictor
from tests.cli_runs import json_lines

NOT_CLOSED = "a quotation mark in this row of the CSV is not closed"


def predict_file(predictor: Predictor, path: Path, batch_size: int = 2) -> list[dict[str, Any]]:
    output = path.with_suffix(".out")
    PredictManager(predictor, str(path), str(output), batch_size, False, False).run()
    return json_lines(output)


@pytest.mark.parametrize("batch_size", [1, 3])
def test_text_json_and_csv_give_the_same_records(
    predictor: QuestionDecompositionPredictor, tmp_path: Path, batch_size: int
) -> None:
    questions = ["How many cubes are red?", 'Which "small, red" cubes are there?', "?", "Which rivers are long?"]
    text = tmp_path / "a.txt"
    text.write_text("\n".join(questions) + "\n", encoding="utf-8")
    lines = tmp_path / "b.jsonl"
    lines.write_text("".join(json.dumps({"question": question}) + "\n" for question in questions), encoding="utf-8")
    table = tmp_path / "c.csv"
    rows = ["question_id,question_text,decomposition"]
    rows += [f'{number},"{question.replace(chr(34), chr(34) * 2)}",' for number, question in enumerate(questions, 1)]
    table.write_text("\n".join(rows) + "\n", encoding="utf-8")
    from_text = predict_file(predictor, text, batch_size)
    assert [record["question"] for record in from_text] == questions
    assert [record["question_id"] for record in from_text] == ["1", "2", "3", "4"]
    # One after another with the same predictor: nothing of one file is carried over to the next.
    for path in (lines, table):
        records = predict_file(predictor, path, batch_size)
        assert [(r["question_id"], r["question"], r["decomposition"]) for r in records] == [
            (r["question_id"], r["question"], r["decomposition"]) for r in from_text
        ]


@pytest.mark.parametrize("reader", [[], ["--use-dataset-reader"]])
def test_the_command_loses_no_line(
    archive: Path, tmp_path: Path, project_root: Path, monkeypatch: pytest.MonkeyPatch, reader: list[str]
) -> None:
    text = tmp_path / "questions.txt"
    text.write_text(f"\nred cubes\n\n  \n?!\n{'cube ' * 5000}\n\N{GRINNING FACE}\nblue cubes\n\n", encoding="utf-8")
    output = tmp_path / "out.jsonl"
    arguments = ["predict", archive, text, "--output-file", output, "--silent", "--batch-size", 3, *reader]
    monkeypatch.chdir(project_root)
    monkeypatch.setattr(sys, "argv", ["allennlp", *map(str, arguments)])
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    main(prog="allennlp")
    records = json_lines(output)
    assert [record["question_id"] for record in records] == [str(number) for number in range(1, 10)]
    empty, wordless = "the question is empty", "the question has no word in it"
    too_long = "the question is too long: 24,999 characters; at most 2,000 are allowed"
    errors = [record["error"] for record in records]
    assert [errors[number] for number in (0, 2, 3, 4, 5, 6, 8)] == [empty] * 3 + [wordless, too_long, wordless, empty]
    assert records[1]["graph"] is not None
    assert records[7]["graph"] is not None


def test_a_quotation_mark_that_is_never_closed_costs_no_other_row(
    predictor: QuestionDecompositionPredictor, tmp_path: Path
) -> None:
    table = tmp_path / "questions.csv"
    table.write_text(
        'question_id,question_text\na,"red\n\ncubes"\nb,"blue cubes\nc,long rivers\nd,\n', encoding="utf-8"
    )
    records = predict_file(predictor, table)
    assert [record["question_id"] for record in records] == ["a", "b", "c", "d"]
    assert [record["question"] for record in records][::2] == ["red\n\ncubes", "long rivers"]
    assert records[1]["error"] == NOT_CLOSED
    assert [record["graph"] is None for record in records] == [False, True, False, True]


def test_standard_input_is_read_like_a_file(
    predictor: QuestionDecompositionPredictor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "out.jsonl"
    for data, count in ((b"red cubes\n\nblue cubes\n", 3), (b'question_text\n"red\nblue\n', 2)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
        PredictManager(predictor, "-", str(output), 2, False, False).run()
        assert len(output.read_text(encoding="utf-8").splitlines()) == count
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"red\n\xff\n"), encoding="utf-8"))
    with pytest.raises(DataError, match="standard input: not UTF-8 text"):
        PredictManager(predictor, "-", str(output), 2, False, False).run()


def test_a_file_that_is_not_there_does_not_empty_the_output(
    predictor: QuestionDecompositionPredictor, tmp_path: Path
) -> None:
    output = tmp_path / "out.jsonl"
    output.write_text("important", encoding="utf-8")
    with pytest.raises(FileNotFoundError, match=r"nowhere\.txt"):
        PredictManager(predictor, str(tmp_path / "nowhere.txt"), str(output), 2, False, False)
    assert output.read_text(encoding="utf-8") == "important"


def test_a_file_that_is_no_text_is_an_error_of_ours(predictor: QuestionDecompositionPredictor, tmp_path: Path) -> None:
    path = tmp_path / "questions.txt"
    path.write_bytes(b"red cubes\n\xff\xfe\n")
    with pytest.raises(DataError, match=r"questions\.txt: not a UTF-8 text file"):
        predict_file(predictor, path)


def test_the_console_shows_every_question_once_and_nothing_else(
    predictor: QuestionDecompositionPredictor, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "questions.csv"
    path.write_text("question_id,question_text\na,red cubes\nb,blue cubes\n", encoding="utf-8")
    PredictManager(predictor, str(path), None, 1, True, False).run()
    shown = capsys.readouterr().out
    assert "rows" not in shown
    assert [line for line in shown.splitlines() if line.startswith("input")] == [
        "input 0:  red cubes",
        "input 1:  blue cubes",
    ]
    records = [json.loads(line.removeprefix("prediction: ")) for line in shown.splitlines() if '"question_id"' in line]
    assert [record["question_id"] for record in records] == ["a", "b"]


def test_evaluation_writes_the_records_of_a_prediction(
    archive: Path, tmp_path: Path, project_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = (project_root / "data" / "dev.csv").read_text(encoding="utf-8").splitlines()[:6]
    (tmp_path / "gold.csv").write_text("\n".join(lines), encoding="utf-8")
    output, metrics = tmp_path / "predictions.jsonl", tmp_path / "metrics.json"
    arguments = ["evaluate", archive, tmp_path / "gold.csv", "--predictions-output-file", output]
    arguments += ["--output-file", metrics, "--batch-size", "2"]
    monkeypatch.chdir(project_root)
    monkeypatch.setattr(sys, "argv", ["allennlp", *map(str, arguments)])
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    main(prog="allennlp")
    written = json_lines(output)
    assert {record["question_id"] for record in written} == {line.split(",")[0] for line in lines[1:]}
    predicted = predict_file(Predictor.from_path(archive), tmp_path / "gold.csv")
    by_id = {record["question_id"]: record["decomposition"] for record in written}
    assert by_id == {record["question_id"]: record["decomposition"] for record in predicted}
    assert "lf_em" in json.loads(metrics.read_text(encoding="utf-8"))


def test_other_predictors_are_left_alone(tmp_path: Path) -> None:
    class Echo(Predictor):
        def __init__(self) -> None:
            self._dataset_reader = "a reader"

        def predict_json(self, inputs: dict[str, Any]) -> dict[str, Any]:
            return inputs

        def predict_batch_json(self, inputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
            return inputs

    path = tmp_path / "lines.jsonl"
    path.write_text('{"a": 1}\n\n{"a": 2}\n', encoding="utf-8")
    outputs = []
    for manager in (PredictManager.__mro__[1], PredictManager):
        output = tmp_path / f"{manager.__module__}.out"
        manager(Echo(), str(path), str(output), 1, False, False).run()
        outputs.append(output.read_text(encoding="utf-8"))
    assert outputs == ['{"a": 1}\n{"a": 2}\n'] * 2
    assert PredictManager(Echo(), str(path), None, 1, False, True)._dataset_reader == "a reader"
