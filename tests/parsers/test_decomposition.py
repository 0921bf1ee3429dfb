from __future__ import annotations

import json

import pytest

from qdecomp.data_structures.errors import DataError, QDecompError
from qdecomp.data_structures.operators import Operator
from qdecomp.data_structures.qdmr import parse_qdmr
from qdecomp.parsers.decomposition import Decomposition, decomposition_from_record, failed_decomposition

QUESTION = "how many red cubes are left of the largest blue ball ?"
TEXT = (
    "return cubes ;return #1 that are red ;return balls ;return #3 that are blue ;return size of #4 ;"
    "return #4 where #5 is highest ;return #2 left of #6 ;return number of #7"
)


@pytest.fixture
def decomposition() -> Decomposition:
    return Decomposition.of_text(QUESTION, TEXT)


def test_it_prints_as_numbered_steps(decomposition: Decomposition) -> None:
    lines = str(decomposition).splitlines()
    assert lines[:2] == ["1. cubes", "2. #1 that are red"]
    assert lines[-1] == "8. number of #7"
    assert decomposition.steps[2] == "balls"


def test_it_has_every_form(decomposition: Decomposition) -> None:
    assert decomposition
    assert decomposition.qdmr == parse_qdmr(TEXT)
    assert decomposition.logical_form is not None
    assert decomposition.logical_form.steps[-1].operator is Operator.AGGREGATE
    assert decomposition.predicted_graph is None
    assert decomposition.graph is not None
    assert decomposition.confidence is None
    record = json.loads(json.dumps(decomposition.to_dict()))
    assert record["question"] == QUESTION
    assert parse_qdmr(record["decomposition"]) == parse_qdmr(TEXT)


def test_the_plan_has_what_can_be_answered_side_by_side_in_one_level(decomposition: Decomposition) -> None:
    plan = decomposition.plan()
    assert [[step.number for step in level] for level in plan] == [[1, 3], [2, 4], [5], [6], [7], [8]]
    answered: set[int] = set()
    for level in plan.levels:
        assert all(set(step.needs) <= answered for step in level)
        answered.update(step.number for step in level)
    assert len(plan) == 6


def test_references_of_a_plan_are_resolved_all_the_way_down(decomposition: Decomposition) -> None:
    steps = {step.number: step for level in decomposition.plan() for step in level}
    assert steps[2].resolved == "cubes that are red"
    assert steps[6].resolved == "balls that are blue where size of balls that are blue is highest"
    assert steps[8].resolved.startswith("number of cubes that are red left of balls")
    assert steps[8].operator is Operator.AGGREGATE
    assert "#" not in str(decomposition.plan())


def test_a_step_is_filled_with_answers(decomposition: Decomposition) -> None:
    steps = {step.number: step for level in decomposition.plan() for step in level}
    assert steps[7].fill({2: "cube A", 6: "ball B"}) == "cube A left of ball B"
    with pytest.raises(DataError, match="step 7 needs the answer of step 6"):
        steps[7].fill({2: "cube A"})


def test_steps_that_refer_to_later_ones_are_planned_behind_them() -> None:
    plan = Decomposition.of_text("q", "return #2 that are red ;return cubes").plan()
    assert [[step.number for step in level] for level in plan] == [[2], [1]]


def test_a_plan_whose_steps_double_stays_small() -> None:
    text = ";".join(["return cubes", *(f"return #{number} , #{number}" for number in range(1, 40))])
    plan = Decomposition.of_text("q", text).plan()
    assert len(plan) == 40
    assert max(len(step.resolved) for level in plan for step in level) < 3000


def test_without_a_decomposition_it_says_why() -> None:
    failed = failed_decomposition("?", "the question has no word in it")
    assert not failed
    assert str(failed) == "no decomposition: the question has no word in it"
    assert failed.steps == ()
    assert failed.qdmr is None
    assert failed.to_dict()["error"] == "the question has no word in it"
    with pytest.raises(DataError, match=r"no plan.*no word in it"):
        failed.plan()


def test_notebooks_show_a_page_fragment(decomposition: Decomposition) -> None:
    html = decomposition._repr_html_()
    assert "largest blue ball" in html
    assert "<svg" in html


def test_its_repr_is_one_line(decomposition: Decomposition) -> None:
    assert repr(decomposition) == f"<Decomposition of {QUESTION!r}: 8 steps>"
    scored = Decomposition("why\n" * 100, "return a", confidence=0.25)
    assert repr(scored).endswith("…': 1 step, confidence 0.25>")
    assert "\n" not in repr(scored)
    assert repr(failed_decomposition("?", "no")) == "<Decomposition of '?': none>"


def test_a_step_is_filled_with_numbers_and_lists(decomposition: Decomposition) -> None:
    step = decomposition.plan().steps[6]
    assert step.fill({2: 3, 6: ["ball A", "ball B"]}) == "3 left of ball A and ball B"


def test_steps_that_were_written_have_a_graph() -> None:
    decomposition = Decomposition.of_text("How many red cubes are there?", "return red cubes ;return number of #1")
    assert decomposition.predicted_graph is None
    assert decomposition.graph is not None
    assert decomposition.graph_error is None
    assert "<svg" in decomposition._repr_html_()


def test_what_has_no_graph_says_why() -> None:
    without_form = Decomposition("How many cubes?", "return #2", error="step 1: refers to a later step")
    assert without_form.graph is None
    assert without_form.graph_error == "the steps have no logical form"
    nothing = Decomposition("", error="the question is empty")
    assert nothing.graph is None
    assert nothing.graph_error == "the question is empty"


def test_warnings_are_in_the_record_where_there_are_some() -> None:
    odd = Decomposition.of_text("Which rivers are long?", "return rivers ;return #1 that are longer than")
    assert odd.warnings == ("step 2: a comparison with nothing: it ends in 'than'",)
    assert odd.to_dict()["warnings"] == list(odd.warnings)
    fine = Decomposition.of_text("Which rivers are long?", "return rivers ;return #1 that are long")
    assert fine.warnings == ()
    assert "warnings" not in fine.to_dict()
    assert failed_decomposition("?", "no").warnings == ()


def test_a_calibrated_confidence_is_the_same_everywhere() -> None:
    decomposition = Decomposition("Which rivers?", "return rivers", score=-2.0, confidence=0.75)
    assert decomposition.confidence == 0.75
    assert decomposition.to_dict()["confidence"] == 0.75
    assert decomposition_from_record(decomposition.to_dict()).confidence == 0.75


def test_it_comes_back_from_its_dictionary_and_may_get_other_steps(decomposition: Decomposition) -> None:
    assert Decomposition.from_dict(decomposition.to_dict()).to_dict() == decomposition.to_dict()
    other = decomposition.with_steps("return rivers ;return number of #1")
    assert (other.question, other.steps, other.confidence) == (decomposition.question, ("rivers", "number of #1"), None)
    with pytest.raises(QDecompError, match="no steps"):
        decomposition.with_steps([])
