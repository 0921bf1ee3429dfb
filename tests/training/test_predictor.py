"""One record for every question, from every format, whatever the question looks like."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.predictors import Predictor

from qdecomp.data_structures.dependency_graph import dependency_graph_from_json
from qdecomp.data_structures.errors import DataError, GraphError
from qdecomp.decoding.ilp import IlpDecoder
from qdecomp.files import BreakExample
from qdecomp.training.predictor import QuestionDecompositionPredictor

FIELDS = ["question_id", "question", "decomposition", "logical_form", "graph", "score", "error"]
BAD = {
    "": "the question is empty",
    " \t ": "the question is empty",
    "?!... ;;": "the question has no word in it",
    "\N{GRINNING FACE}": "the question has no word in it",
    "cube " * 5000: "the question is too long: 25,000 characters; at most 2,000 are allowed",
}
ODD = ["\N{GRINNING FACE} red cubes", "a", "\u200b red \x07 cubes", "[DUP] #1 ; return [RSC]", "x" * 10_000]


@pytest.mark.parametrize("batch_size", [1, 7])
def test_bad_questions_give_records_that_say_why(predictor: QuestionDecompositionPredictor, batch_size: int) -> None:
    questions = [BreakExample(0, "", text, None) for text in (*BAD, "How many cubes are red?", *ODD)]
    records = []
    for start in range(0, len(questions), batch_size):
        records += predictor.predict_questions(questions[start : start + batch_size])
    assert [record["question"] for record in records] == [each.question for each in questions]
    assert [list(record) for record in records] == [FIELDS] * len(questions)
    assert [record["error"] for record in records[: len(BAD)]] == list(BAD.values())
    for record in records:
        assert (record["error"] is None) == (record["decomposition"] is not None)
        assert json.loads(json.dumps(record)) == record


def fail_on_rivers(
    predictor: QuestionDecompositionPredictor, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    forward = predictor._model.forward_on_instances

    def fails_on_rivers(instances: list[Any]) -> Any:
        if any("rivers" in instance["metadata"].metadata["question"] for instance in instances):
            raise error
        return forward(instances)

    monkeypatch.setattr(predictor._model, "forward_on_instances", fails_on_rivers)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (RuntimeError("no rivers"), "RuntimeError: no rivers"),
        (MemoryError(), "MemoryError: "),
        (torch.OutOfMemoryError("too much water"), "OutOfMemoryError: too much water"),
        (GraphError("decoding", "no rivers"), "decoding: no rivers"),
    ],
)
def test_a_model_that_fails_on_one_question_answers_the_others(
    predictor: QuestionDecompositionPredictor, monkeypatch: pytest.MonkeyPatch, error: Exception, message: str
) -> None:
    fail_on_rivers(predictor, monkeypatch, error)
    records = predictor.predict_batch_json([{"question": text} for text in ("red cubes", "long rivers", "blue cubes")])
    assert [record["graph"] is None for record in records] == [False, True, False]
    assert records[1]["error"] == message


@pytest.mark.parametrize(
    "error", [TypeError, AttributeError, KeyError, IndexError, AssertionError, NotImplementedError, KeyboardInterrupt]
)
def test_a_mistake_in_the_code_is_no_record(
    predictor: QuestionDecompositionPredictor, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    fail_on_rivers(predictor, monkeypatch, error("a mistake"))
    for questions in (["red cubes", "long rivers"], ["long rivers"]):
        with pytest.raises(error, match="a mistake"):
            predictor.predictions(questions)


def test_half_of_a_character_is_an_error_that_can_be_written(predictor: QuestionDecompositionPredictor) -> None:
    question = "red \ud83d cubes"
    outputs = predictor.predict_json({"question": question, "question_id": "\ud83d"})
    line = predictor.dump_line(outputs)
    record = json.loads(line.encode())
    assert (record["question_id"], record["question"]) == ("?", "red ? cubes")
    assert record["error"] == "the question has half of a character in it (a lone surrogate)"


def test_one_question_is_one_record(predictor: QuestionDecompositionPredictor) -> None:
    record = predictor.predict_json({"question": "How many cubes are red?", "question_id": "a"})
    assert list(record) == FIELDS
    graph = dependency_graph_from_json(record["graph"])
    assert graph.question_tokens == ("How", "many", "cubes", "are", "red", "?")
    assert predictor.predict_batch_json([{"question": "red cubes"}, {"text": "red"}])[1]["error"] is not None


def test_the_decoder_can_be_chosen(archive: Path) -> None:
    predictor = Predictor.from_path(archive, decoder={"type": "ilp", "time_limit": 0.25})
    assert isinstance(predictor, QuestionDecompositionPredictor)
    assert predictor._model.graph_decoder == IlpDecoder(time_limit=0.25)
    assert all(each.error is None for each in predictor.predictions(["red cubes " * count for count in range(1, 5)]))
    with pytest.raises(DataError, match="decoder 'ilp': there is no option 'limit'"):
        Predictor.from_path(archive, decoder={"type": "ilp", "limit": 0.25})
    with pytest.raises(DataError, match="no decoder 'best'"):
        Predictor.from_path(archive, decoder="best")


def test_candidates_can_be_asked_for(archive: Path) -> None:
    predictor = Predictor.from_path(archive, decoder="ilp", candidates=2)
    assert predictor._model.graph_decoder == IlpDecoder(candidates=2)
    with pytest.raises(DataError, match="candidates need the decoder 'ilp'"):
        Predictor.from_path(archive, candidates=2)


def test_another_model_takes_no_decoder(predictor: QuestionDecompositionPredictor) -> None:
    with pytest.raises(DataError, match="Linear is not a parser of this project"):
        QuestionDecompositionPredictor(torch.nn.Linear(1, 1), predictor._dataset_reader, decoder="ilp")  # type: ignore[arg-type]
