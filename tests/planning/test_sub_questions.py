from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from qdecomp import Decomposition
from qdecomp.planning.sub_questions import WORDINGS, Wording


@pytest.mark.parametrize("wording", WORDINGS, ids=lambda wording: wording.example)
def test_every_wording_asks_its_example(wording: Wording) -> None:
    step, question = wording.example.split(" → ")
    assert wording.ask(step) == question


@pytest.mark.parametrize(
    ("steps", "question"),
    [
        ("return largest country ;return capital of #1", "What is the capital of #1?"),
        ("return students ;return the names of #1", "What are the names of #1?"),
        ("return bus ;return the class of #1", "What is the class of #1?"),
        ("return film ;return who directed #1 ?", "Who directed #1?"),
        ("return a ;return b ;return #1 , #2", "#1, #2"),
        ("return a ;return b ;return if #1 is the same as #2", "Is #1 the same as #2?"),
        ("return a ;return if any of #1 are red", "Are any of #1 red?"),
    ],
)
def test_steps_read_as_questions(steps: str, question: str) -> None:
    plan = Decomposition.of_text("q", steps).plan()
    assert plan.questions()[len(plan.steps)] == question


def test_answers_stand_in_the_question_and_the_rest_stays_open() -> None:
    plan = Decomposition.of_text("q", "return a ;return b ;return which is higher of #1 , #2").plan()
    assert plan.questions({1: 3})[3] == "Which is higher of 3, #2?"


def test_of_one_thing_a_filter_is_a_phrase() -> None:
    plan = Decomposition.of_text("q", "return Peru ;return #1 in Asia").plan()
    assert plan.questions({1: "Peru"})[2] == "Peru in Asia"
    assert plan.questions({1: ["Peru", "Nepal"]})[2] == "Which of Peru and Nepal are in Asia?"


def test_an_answer_with_a_reference_in_it_is_left_as_it_is() -> None:
    plan = Decomposition.of_text("q", "return a ;return b ;return which is higher of #1 , #2").plan()
    assert plan.questions({1: "chapter #2", 2: "x"})[3] == "Which is higher of chapter #2, x?"


def test_a_question_knows_its_step_also_after_a_journey() -> None:
    question = Decomposition.of_text("q", "return a ;return size of #1").plan().questions({1: "x"})[2]
    copy = pickle.loads(pickle.dumps(question))
    assert copy == question == "What is the size of x?"
    assert copy.step.number == 2
    assert copy.answers == {1: "x"}


@pytest.mark.parametrize(
    ("decomposition", "questions"),
    [
        ("return islands", ["islands"]),
        ("return islands ;return number of #1", ["How many islands are there?"]),
        (
            "return Norland ;return capital of #1 ;return river that flows through #2",
            ["What is the capital of Norland?", "What is the river that flows through capital of Norland?"],
        ),
        (
            "return dogs ;return cats ;return number of #1 ;return number of #2 ;return which is highest of #3 , #4",
            ["How many dogs are there?", "How many cats are there?"],
        ),
    ],
)
def test_standalone_questions_need_no_other_answer(decomposition: str, questions: list[str]) -> None:
    found = Decomposition.of_text("", decomposition).plan().standalone_questions()
    assert list(found.values()) == questions
    assert not any("#" in question for question in found.values())


@pytest.mark.parametrize(
    ("steps", "likely"),
    [
        ("return Norland ;return capital of #1 ;return river that flows through #2", True),
        ("return Arvo ;return Brenn ;return area of #1 ;return area of #2 ;return which is higher of #3 , #4", True),
        ("return rivers ;return #1 in Texas ;return #2 that are long ;return number of #3", False),
        ("return Norland ;return capital of #1", False),
        ("return islands", False),
    ],
)
def test_whether_to_split_follows_from_the_hops_and_the_confidence(steps: str, likely: bool) -> None:
    plan = Decomposition.of_text("q", steps).plan()
    unsure, sure = (replace(plan, confidence=confidence).split for confidence in (0.1, 0.9))
    assert (plan.split > 0.5) is likely
    assert (sure > unsure) is likely
    assert 0 < unsure < 1
