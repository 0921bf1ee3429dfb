from __future__ import annotations

import pytest

from qdecomp import Decomposition
from qdecomp.integrations.asked_steps import named_things, standalone_questions


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Mira Tovan", True),
        ("the Bears", True),
        ("The", True),
        ("1999", True),
        ("cubes", False),
        ("the large sphere", False),
        ("rivers in Texas", False),
        ("Texas rivers", False),
    ],
)
def test_a_name_needs_no_looking_up(text: str, named: bool) -> None:
    assert (named_things(Decomposition.of_text("", f"return {text}").plan()) == {1: text}) is named


def test_a_step_that_refers_to_another_is_no_name() -> None:
    plan = Decomposition.of_text("", "return Norland ;return Capital of #1").plan()
    assert named_things(plan) == {1: "Norland"}


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
    found = standalone_questions(Decomposition.of_text("", decomposition).plan())
    assert list(found.values()) == questions
    assert not any("#" in question for question in found.values())
