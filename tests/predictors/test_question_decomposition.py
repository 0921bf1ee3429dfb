"""One record out for every question in, from every format, whatever the question looks like."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from allennlp.commands.predict import _PredictManager
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.predictors import Predictor

import qdecomp.allennlp_plugin  # noqa: F401
from qdecomp.data_structures.dependency_graph import dependency_graph_from_json
from qdecomp.data_structures.errors import DataError
from qdecomp.predictors.question_decomposition import QuestionDecompositionPredictor

FIELDS = ["question_id", "question", "decomposition", "logical_form", "graph", "score", "error"]
BAD = {
    "": "the question is empty",
    " \t ": "the question is empty",
    "?!... ;;": "the question has no word in it",
    "\N{GRINNING FACE}": "the question has no word in it",
    "cube " * 5000: "the question is too long for the encoder",
}
ODD = ["\N{GRINNING FACE} red cubes", "a", "\u200b red \x07 cubes", "[DUP] #1 ; return [RSC]", "x" * 10_000]


@pytest.fixture(scope="module")
def archive(tiny_encoder: Path, project_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive of a parser that has seen the sample set once."""
    folder = tmp_path_factory.mktemp("trained")
    overrides: dict[str, Any] = {
        "dataset_reader.token_indexers.pieces.encoder": str(tiny_encoder),
        "dataset_reader.token_indexers.pieces.max_pieces": 256,
        "dataset_reader.cache_folder": str(folder / "cache"),
        "model.word_encoder.encoder": str(tiny_encoder),
        "model.edge_dim": 24,
        "model.label_dim": 12,
        "train_data_path": str(project_root / "data" / "dev.csv"),
        "validation_data_path": str(project_root / "data" / "dev.csv"),
        "trainer.num_epochs": 1,
    }
    config = project_root / "training_config" / "demo.jsonnet"
    train_model(Params.from_file(str(config), params_overrides=overrides), str(folder / "run"))
    return folder / "run" / "model.tar.gz"


@pytest.fixture
def predictor(archive: Path) -> QuestionDecompositionPredictor:
    result = Predictor.from_path(archive)
    assert isinstance(result, QuestionDecompositionPredictor)
    return result


def _predict_file(predictor: Predictor, path: Path, batch_size: int) -> list[dict[str, Any]]:
    """What ``allennlp predict`` does with a file."""
    output = path.with_suffix(".out")
    _PredictManager(predictor, str(path), str(output), batch_size, False, False).run()
    return [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("batch_size", [1, 7])
def test_bad_questions_give_records_that_say_why(predictor: QuestionDecompositionPredictor, batch_size: int) -> None:
    questions = [(str(number), question) for number, question in enumerate([*BAD, "How many cubes are red?", *ODD])]
    records = []
    for start in range(0, len(questions), batch_size):
        records += predictor.predict_questions(questions[start : start + batch_size])
    assert [record["question"] for record in records] == [question for _, question in questions]
    assert [list(record) for record in records] == [FIELDS] * len(questions)
    assert [record["error"] for record in records[: len(BAD)]] == list(BAD.values())
    for record in records:
        assert (record["error"] is None) == (record["decomposition"] is not None)
        assert json.loads(json.dumps(record)) == record


@pytest.mark.parametrize("batch_size", [1, 3])
def test_text_json_and_csv_give_the_same_records(
    predictor: QuestionDecompositionPredictor, archive: Path, tmp_path: Path, batch_size: int
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
    from_text = _predict_file(predictor, text, batch_size)
    assert [record["question"] for record in from_text] == questions
    assert [record["question_id"] for record in from_text] == ["1", "2", "3", "4"]
    for path in (lines, table):
        records = _predict_file(Predictor.from_path(archive), path, batch_size)
        assert [(r["question_id"], r["question"], r["decomposition"]) for r in records] == [
            (r["question_id"], r["question"], r["decomposition"]) for r in from_text
        ]


def test_a_question_of_a_csv_may_have_several_lines(predictor: QuestionDecompositionPredictor, tmp_path: Path) -> None:
    table = tmp_path / "questions.csv"
    table.write_text('question_id,question_text\na,"red\ncubes"\nb,\nc,blue cubes\n', encoding="utf-8")
    records = _predict_file(predictor, table, 2)
    assert [(record["question_id"], record["question"]) for record in records] == [
        ("a", "red\ncubes"),
        ("b", ""),
        ("c", "blue cubes"),
    ]


def test_the_readers_instances_can_be_predicted(predictor: QuestionDecompositionPredictor, project_root: Path) -> None:
    instances = list(predictor._dataset_reader.read(project_root / "data" / "questions.txt"))
    records = predictor.predict_batch_instance(instances)
    assert len(records) == len(instances) > 10
    assert records[0]["graph"] is not None
    assert (
        predictor.predict_instance(instances[0])["question"]
        == records[0]["question"]
        == "show me the flights from porto to nairobi on friday in the evening"
    )


def test_graphs_can_be_read_back(predictor: QuestionDecompositionPredictor) -> None:
    record = predictor.predict("How many cubes are red?", "q")
    graph = dependency_graph_from_json(record["graph"])
    assert graph.question_tokens == ("How", "many", "cubes", "are", "red", "?")


def test_a_model_that_fails_on_one_question_answers_the_others(
    predictor: QuestionDecompositionPredictor, monkeypatch: pytest.MonkeyPatch
) -> None:
    forward = predictor._model.forward_on_instances

    def fails_on_rivers(instances: list[Any]) -> Any:
        if any("rivers" in instance["metadata"].metadata["question"] for instance in instances):
            raise RuntimeError("no rivers")
        return forward(instances)

    monkeypatch.setattr(predictor._model, "forward_on_instances", fails_on_rivers)
    records = predictor.predict_questions([("1", "red cubes"), ("2", "long rivers"), ("3", "blue cubes")])
    assert [record["graph"] is None for record in records] == [False, True, False]
    assert records[1]["error"] == "RuntimeError: no rivers"


def test_the_decoder_can_be_chosen(archive: Path) -> None:
    predictor = Predictor.from_path(archive, decoder="ilp")
    questions = [(str(number), "red cubes " * (number + 1)) for number in range(4)]
    assert all(record["error"] is None for record in predictor.predict_questions(questions))
    with pytest.raises(DataError, match="no decoder 'best'"):
        Predictor.from_path(archive, decoder="best")
