from __future__ import annotations

import json
import math
from typing import Any

import pytest

from qdecomp.data_structures.conversion.chain import convert
from qdecomp.data_structures.dependency_graph import (
    DependencyGraph,
    dependency_graph_from_json,
    dependency_graph_to_json,
)
from qdecomp.data_structures.errors import DataError, QDecompError
from qdecomp.data_structures.lf_em import lf_em
from qdecomp.data_structures.operators import Operator
from qdecomp.data_structures.qdmr import parse_qdmr
from qdecomp.parsers.decomposition import (
    Answered,
    Candidate,
    Decomposition,
    decomposition_from_graph,
    decomposition_from_record,
    decomposition_from_text,
    failed_decomposition,
)
from tests.plans import plan_of

FIELDS = ["question_id", "question", "decomposition", "logical_form", "graph", "score", "error"]
GOLD = "return cubes ;return #1 that are red ;return number of #2"
QUESTION = "how many red cubes are left of the largest blue ball ?"
TEXT = (
    "return cubes ;return #1 that are red ;return balls ;return #3 that are blue ;return size of #4 ;"
    "return #4 where #5 is highest ;return #2 left of #6 ;return number of #7"
)

FOUND = Decomposition.of_text(QUESTION, TEXT)


def test_it_has_every_form_and_prints_as_numbered_steps() -> None:
    assert FOUND
    assert str(FOUND).splitlines()[:2] == ["1. cubes", "2. #1 that are red"]
    assert FOUND.qdmr == parse_qdmr(TEXT)
    assert FOUND.logical_form is not None
    assert FOUND.logical_form.steps[-1].operator is Operator.AGGREGATE
    assert FOUND.predicted_graph is None
    assert FOUND.graph is not None
    assert FOUND.graph_error is None
    assert "<svg" in FOUND._repr_html_()


def test_a_plan_has_levels_and_steps_that_are_resolved_all_the_way_down() -> None:
    plan = FOUND.plan()
    assert [[step.number for step in level] for level in plan] == [[1, 3], [2, 4], [5], [6], [7], [8]]
    steps = {step.number: step for level in plan for step in level}
    assert steps[2].resolved == "cubes that are red"
    assert steps[6].resolved == "balls that are blue where size of balls that are blue is highest"
    assert steps[7].fill({2: 3, 6: ["ball A", "ball B"]}) == "3 left of ball A and ball B"
    assert "#" not in str(plan)
    # Steps that refer to later ones are planned behind them.
    assert [[step.number for step in level] for level in plan_of("#2 that are red; cubes")] == [[2], [1]]


def test_a_plan_whose_steps_double_stays_small() -> None:
    plan = plan_of("; ".join(["cubes", *(f"#{number} , #{number}" for number in range(1, 40))]))
    assert len(plan) == 40
    assert max(len(step.resolved) for level in plan for step in level) < 3000


def test_without_a_decomposition_it_says_why() -> None:
    failed = failed_decomposition("?", "the question has no word in it")
    assert not failed
    assert str(failed) == "no decomposition: the question has no word in it"
    assert (failed.steps, failed.qdmr, failed.warnings) == ((), None, ())
    assert failed.graph_error == failed.to_dict()["error"] == "the question has no word in it"
    with pytest.raises(DataError, match=r"no plan.*no word in it"):
        failed.plan()
    assert failed_decomposition("?", ValueError()).error == "ValueError"
    without_form = Decomposition("How many cubes?", "return #2", error="step 1: refers to a later step")
    assert (without_form.graph, without_form.graph_error) == (None, "the steps have no logical form")


def test_its_repr_is_one_line() -> None:
    assert repr(FOUND) == f"<Decomposition of {QUESTION!r}: 8 steps>"
    scored = Decomposition("why\n" * 100, "return a", confidence=0.25)
    assert repr(scored).endswith("…': 1 step, confidence 0.25>")
    assert "\n" not in repr(scored)
    assert repr(failed_decomposition("?", "no")) == "<Decomposition of '?': none>"


def test_warnings_are_in_the_record_where_there_are_some() -> None:
    odd = Decomposition.of_text("Which rivers are long?", "return rivers ;return #1 that are longer than")
    assert odd.warnings == ("step 2: it ends in 'than', and something is missing after it",)
    assert odd.to_dict()["warnings"] == list(odd.warnings)
    fine = Decomposition.of_text("Which rivers are long?", "return rivers ;return #1 that are long")
    assert "warnings" not in fine.to_dict()


def test_it_comes_back_from_its_dictionary_and_may_get_other_steps() -> None:
    assert Decomposition.from_dict(FOUND.to_dict()).to_dict() == FOUND.to_dict()
    other = FOUND.with_steps("return rivers ;return number of #1")
    assert (other.question, other.steps, other.confidence) == (QUESTION, ("rivers", "number of #1"), None)
    with pytest.raises(QDecompError, match="no steps"):
        FOUND.with_steps([])


# Records.


def test_a_graph_gives_every_form() -> None:
    graph = convert(QUESTION, GOLD).graph
    record = decomposition_from_graph(QUESTION, graph, -1.5).to_record()
    assert list(record) == FIELDS
    assert json.loads(json.dumps(record)) == record
    assert lf_em(QUESTION, record["decomposition"], GOLD)
    assert record["logical_form"][-1] == "AGGREGATE[count](arg=#2)"
    assert dependency_graph_from_json(record["graph"]) == graph
    assert (record["score"], record["error"]) == (-1.5, None)


def test_a_text_without_a_form_is_kept_with_the_reason() -> None:
    broken = decomposition_from_text(QUESTION, "return #1")
    assert (broken.text, broken.logical_form) == ("return #1", None)
    assert broken.error == "step 1: refers to itself (#1)"
    assert decomposition_from_text(QUESTION, " \n").error == "the decomposition is empty"


@pytest.mark.parametrize("score", [math.inf, -math.inf, math.nan])
def test_scores_that_json_lacks_are_left_out(score: float | None) -> None:
    record = decomposition_from_text(QUESTION, GOLD, score).to_record()
    assert record["score"] is None


@pytest.mark.parametrize(
    "prediction",
    [
        decomposition_from_graph(QUESTION, convert(QUESTION, GOLD).graph, -1.5),
        decomposition_from_graph(QUESTION, DependencyGraph(("red", "cubes"))),
        decomposition_from_text(QUESTION, GOLD, 0.25),
        decomposition_from_text(QUESTION, "return #1"),
        failed_decomposition(QUESTION, "too long"),
        Decomposition(
            QUESTION,
            GOLD,
            error="no form",
            confidence=0.75,
            question_id="7",
            candidates=(Candidate(GOLD, -0.5), Candidate("return rivers", -2.0)),
            answered=Answered("toy", 2, 100, 10, "no plan"),
        ),
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
        {"decomposition": GOLD, "candidates": [{"score": 1}]},
        {"decomposition": GOLD, "logical_form": ["SELECT[](sub=rivers)"]},
    ],
)
def test_what_is_no_record_is_an_error_of_ours(record: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="not a prediction record"):
        decomposition_from_record(record)
