from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import pytest

from qdecomp.planning.sub_questions import WORDINGS, Wording
from tests.plans import plan_of


@pytest.mark.parametrize("wording", WORDINGS, ids=lambda wording: wording.example)
def test_every_wording_asks_its_example(wording: Wording) -> None:
    step, question = wording.example.split(" → ")
    assert wording.ask(step) == question


@pytest.mark.parametrize(
    ("steps", "answers", "question"),
    [
        ("largest country; capital of #1", {}, "What is the capital of #1?"),
        ("students; the names of #1", {}, "What are the names of #1?"),
        ("bus; the class of #1", {}, "What is the class of #1?"),
        ("film; who directed #1 ?", {}, "Who directed #1?"),
        ("a; b; #1 , #2", {}, "#1, #2"),
        ("a; b; if #1 is the same as #2", {}, "Is #1 the same as #2?"),
        ("a; if any of #1 are red", {}, "Are any of #1 red?"),
        # What is not answered stays open, and a reference in an answer is none of the plan's.
        ("a; b; which is higher of #1 , #2", {1: 3}, "Which is higher of 3, #2?"),
        ("a; b; which is higher of #1 , #2", {1: "chapter #2", 2: "x"}, "Which is higher of chapter #2, x?"),
        # Of one thing, a filter is a phrase.
        ("Peru; #1 in Asia", {1: "Peru"}, "Peru in Asia"),
        ("Peru; #1 in Asia", {1: ["Peru", "Nepal"]}, "Which of Peru and Nepal are in Asia?"),
    ],
)
def test_steps_read_as_questions(steps: str, answers: dict[int, Any], question: str) -> None:
    plan = plan_of(steps)
    assert plan.questions(answers)[len(plan.steps)] == question


def test_a_question_knows_its_step_also_after_a_journey() -> None:
    question = plan_of("a; size of #1").questions({1: "x"})[2]
    copy = pickle.loads(pickle.dumps(question))
    assert copy == question == "What is the size of x?"
    assert copy.step.number == 2
    assert copy.answers == {1: "x"}


@pytest.mark.parametrize(
    ("decomposition", "questions"),
    [
        ("islands", ["islands"]),
        ("islands; number of #1", ["How many islands are there?"]),
        (
            "Norland; capital of #1; river that flows through #2",
            ["What is the capital of Norland?", "What is the river that flows through capital of Norland?"],
        ),
        (
            "dogs; cats; number of #1; number of #2; which is highest of #3 , #4",
            ["How many dogs are there?", "How many cats are there?"],
        ),
    ],
)
def test_standalone_questions_need_no_other_answer(decomposition: str, questions: list[str]) -> None:
    found = plan_of(decomposition).standalone_questions()
    assert list(found.values()) == questions
    assert not any("#" in question for question in found.values())


@pytest.mark.parametrize(
    ("steps", "likely"),
    [
        ("Norland; capital of #1; river that flows through #2", True),
        ("Arvo; Brenn; area of #1; area of #2; which is higher of #3 , #4", True),
        ("rivers; #1 in Texas; #2 that are long; number of #3", False),
        ("Norland; capital of #1", False),
        ("islands", False),
    ],
)
def test_whether_to_split_follows_from_the_hops_and_the_confidence(steps: str, likely: bool) -> None:
    plan = plan_of(steps)
    unsure, sure = (replace(plan, confidence=confidence).split for confidence in (0.1, 0.9))
    assert (plan.split > 0.5) is likely
    assert (sure > unsure) is likely
    assert 0 < unsure < 1
