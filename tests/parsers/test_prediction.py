from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest

from qdecomp.data_structures.conversion.chain import convert
from qdecomp.data_structures.dependency_graph import (
    DependencyGraph,
    dependency_graph_from_json,
    dependency_graph_to_json,
)
from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.lf_em import lf_em
from qdecomp.parsers.prediction import (
    Candidate,
    Prediction,
    failed_prediction,
    prediction_from_graph,
    prediction_from_record,
    prediction_from_text,
    prediction_to_record,
)

QUESTION = "How many red cubes are there?"
GOLD = "return cubes ;return #1 that are red ;return number of #2"
FIELDS = ["question_id", "question", "decomposition", "logical_form", "graph", "score", "error"]


def test_a_graph_gives_every_form() -> None:
    graph = convert(QUESTION, GOLD).graph
    record = prediction_to_record(prediction_from_graph(graph, -1.5), "id", QUESTION)
    assert list(record) == FIELDS
    assert json.loads(json.dumps(record)) == record
    assert lf_em(QUESTION, record["decomposition"], GOLD)
    assert record["logical_form"][-1] == "AGGREGATE[count](arg=#2)"
    assert dependency_graph_from_json(record["graph"]) == graph
    assert (record["score"], record["error"]) == (-1.5, None)


def test_a_graph_without_meaning_gives_the_reason() -> None:
    prediction = prediction_from_graph(DependencyGraph(("red", "cubes")))
    assert not prediction.is_valid
    record = prediction_to_record(prediction, "id", QUESTION)
    assert (record["decomposition"], record["logical_form"]) == (None, None)
    assert "no edge" in record["error"]
    assert record["graph"]["tokens"] == ["red", "cubes"]


def test_a_text_is_kept_as_it_is() -> None:
    prediction = prediction_from_text(GOLD)
    assert prediction.is_valid
    assert prediction.decomposition == GOLD
    assert prediction.graph is None
    broken = prediction_from_text("return #1")
    assert broken.decomposition == "return #1"
    assert broken.error == "step 1: refers to itself (#1)"
    assert not broken.is_valid


@pytest.mark.parametrize("text", ["", " \n"])
def test_no_text_is_an_error(text: str) -> None:
    assert prediction_from_text(text).error == "the decomposition is empty"


@pytest.mark.parametrize("score", [math.inf, -math.inf, math.nan, None])
def test_scores_that_json_lacks_are_left_out(score: float | None) -> None:
    record = prediction_to_record(prediction_from_text(GOLD, score), "id", QUESTION)
    assert record["score"] is None


def test_errors_without_a_message_have_their_name() -> None:
    assert failed_prediction(ValueError()).error == "ValueError"
    assert failed_prediction("too long").error == "too long"


@pytest.mark.parametrize(
    "prediction",
    [
        prediction_from_graph(convert(QUESTION, GOLD).graph, -1.5),
        prediction_from_graph(DependencyGraph(("red", "cubes"))),
        prediction_from_text(GOLD, 0.25),
        prediction_from_text("return #1"),
        failed_prediction("too long"),
    ],
)
def test_records_read_back(prediction: Prediction) -> None:
    record = json.loads(json.dumps(prediction_to_record(prediction, "id", QUESTION)))
    assert prediction_from_record(record) == prediction


def test_a_record_needs_only_a_text_or_a_graph() -> None:
    assert prediction_from_record({"decomposition": GOLD}) == prediction_from_text(GOLD)
    graph = convert(QUESTION, GOLD).graph
    assert prediction_from_record({"graph": dependency_graph_to_json(graph)}) == prediction_from_graph(graph)
    both = prediction_from_record({"decomposition": GOLD, "graph": dependency_graph_to_json(graph)})
    assert (both.decomposition, both.graph) == (GOLD, graph)
    assert prediction_from_record({}).error == "the record has neither a decomposition nor a graph"


@pytest.mark.parametrize(
    "record",
    [
        {"decomposition": 3},
        {"decomposition": GOLD, "graph": "digraph"},
        {"decomposition": GOLD, "graph": {"tokens": ["a"], "edges": [[0, 3, "span"]]}},
        {"decomposition": GOLD, "logical_form": ["nonsense"]},
        {"decomposition": GOLD, "logical_form": 3},
        {"decomposition": GOLD, "score": "high"},
    ],
)
def test_what_is_no_record_is_an_error_of_ours(record: dict[str, Any]) -> None:
    with pytest.raises(DataError):
        prediction_from_record(record)


def test_candidates_are_in_the_record_when_there_are_some() -> None:
    text = "return rivers ;return number of #1"
    given = (Candidate(text, -0.5), Candidate("return rivers", -2.0))
    record = prediction_to_record(replace(prediction_from_text(text, -0.5), candidates=given), "", "how many rivers?")
    assert record["candidates"][1] == {"decomposition": "return rivers", "score": -2.0}
    assert prediction_from_record(record).candidates == given
    assert "candidates" not in prediction_to_record(prediction_from_text(text), "", "how many rivers?")
    with pytest.raises(DataError, match="not a prediction record"):
        prediction_from_record(record | {"candidates": [{"score": 1}]})
