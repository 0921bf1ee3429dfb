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
from qdecomp.parsers.decomposition import (
    Candidate,
    Decomposition,
    decomposition_from_graph,
    decomposition_from_record,
    decomposition_from_text,
    failed_decomposition,
)

QUESTION = "How many red cubes are there?"
GOLD = "return cubes ;return #1 that are red ;return number of #2"
FIELDS = ["question_id", "question", "decomposition", "logical_form", "graph", "score", "error"]


def test_a_graph_gives_every_form() -> None:
    graph = convert(QUESTION, GOLD).graph
    record = decomposition_from_graph(QUESTION, graph, -1.5).to_record()
    assert list(record) == FIELDS
    assert json.loads(json.dumps(record)) == record
    assert lf_em(QUESTION, record["decomposition"], GOLD)
    assert record["logical_form"][-1] == "AGGREGATE[count](arg=#2)"
    assert dependency_graph_from_json(record["graph"]) == graph
    assert (record["score"], record["error"]) == (-1.5, None)


def test_a_graph_without_meaning_gives_the_reason() -> None:
    prediction = decomposition_from_graph(QUESTION, DependencyGraph(("red", "cubes")))
    assert prediction.logical_form is None
    record = prediction.to_record()
    assert (record["decomposition"], record["logical_form"]) == (None, None)
    assert "no edge" in record["error"]
    assert record["graph"]["tokens"] == ["red", "cubes"]


def test_a_text_is_kept_as_it_is() -> None:
    prediction = decomposition_from_text(QUESTION, GOLD)
    assert prediction.logical_form is not None
    assert prediction.text == GOLD
    assert prediction.predicted_graph is None
    broken = decomposition_from_text(QUESTION, "return #1")
    assert broken.text == "return #1"
    assert broken.error == "step 1: refers to itself (#1)"
    assert broken.logical_form is None


@pytest.mark.parametrize("text", ["", " \n"])
def test_no_text_is_an_error(text: str) -> None:
    assert decomposition_from_text(QUESTION, text).error == "the decomposition is empty"


@pytest.mark.parametrize("score", [math.inf, -math.inf, math.nan, None])
def test_scores_that_json_lacks_are_left_out(score: float | None) -> None:
    record = decomposition_from_text(QUESTION, GOLD, score).to_record()
    assert record["score"] is None


def test_errors_without_a_message_have_their_name() -> None:
    assert failed_decomposition(QUESTION, ValueError()).error == "ValueError"
    assert failed_decomposition(QUESTION, "too long").error == "too long"


@pytest.mark.parametrize(
    "prediction",
    [
        decomposition_from_graph(QUESTION, convert(QUESTION, GOLD).graph, -1.5),
        decomposition_from_graph(QUESTION, DependencyGraph(("red", "cubes"))),
        decomposition_from_text(QUESTION, GOLD, 0.25),
        decomposition_from_text(QUESTION, "return #1"),
        failed_decomposition(QUESTION, "too long"),
    ],
)
def test_records_read_back(prediction: Decomposition) -> None:
    record = json.loads(json.dumps(prediction.to_record()))
    assert decomposition_from_record(record) == prediction


def test_a_record_needs_only_a_text_or_a_graph() -> None:
    assert decomposition_from_record({"question": QUESTION, "decomposition": GOLD}) == decomposition_from_text(
        QUESTION, GOLD
    )
    graph = convert(QUESTION, GOLD).graph
    found = decomposition_from_record({"question": QUESTION, "graph": dependency_graph_to_json(graph)})
    assert found == decomposition_from_graph(QUESTION, graph)
    both = decomposition_from_record({"decomposition": GOLD, "graph": dependency_graph_to_json(graph)})
    assert (both.text, both.predicted_graph) == (GOLD, graph)
    assert decomposition_from_record({}).error == "the record has neither a decomposition nor a graph"


@pytest.mark.parametrize(
    "record",
    [
        {"decomposition": 3},
        {"decomposition": GOLD, "graph": "digraph"},
        {"decomposition": GOLD, "graph": {"tokens": ["a"], "edges": [[0, 3, "span"]]}},
        {"decomposition": GOLD, "logical_form": ["nonsense"]},
        {"decomposition": GOLD, "logical_form": 3},
        {"decomposition": GOLD, "score": "high"},
        {"decomposition": GOLD, "score": math.nan},
        {"decomposition": GOLD, "candidates": [{"decomposition": GOLD, "score": math.nan}]},
    ],
)
def test_what_is_no_record_is_an_error_of_ours(record: dict[str, Any]) -> None:
    with pytest.raises(DataError):
        decomposition_from_record(record)


def test_candidates_are_in_the_record_when_there_are_some() -> None:
    text = "return rivers ;return number of #1"
    given = (Candidate(text, -0.5), Candidate("return rivers", -2.0))
    record = replace(decomposition_from_text(QUESTION, text, -0.5), candidates=given).to_record()
    assert record["candidates"][1] == {"decomposition": "return rivers", "score": -2.0}
    assert decomposition_from_record(record).candidates == given
    assert "candidates" not in decomposition_from_text(QUESTION, text).to_record()
    with pytest.raises(DataError, match="not a prediction record"):
        decomposition_from_record(record | {"candidates": [{"score": 1}]})


def test_a_lone_surrogate_can_be_written() -> None:
    question = "how many \ud800 cubes ?"
    graph = DependencyGraph(("how", "many", "\ud800", "cubes"))
    for found in (decomposition_from_text(question, "return \ud800 cubes"), decomposition_from_graph(question, graph)):
        line = json.dumps(found.to_dict(), ensure_ascii=False).encode()
        assert b"how many ? cubes ?" in line
