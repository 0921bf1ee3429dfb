"""The adapter for DSPy, against the real package with its own model for tests."""

# What needs the framework is imported once it is known to be there.
# ruff: noqa: E402

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from tests.integrations.frameworks import ANSWERS, CHAIN, COMPARISON, FixedParser, require

require("dspy")

import dspy
from dspy.utils import DummyLM

from qdecomp import QDecompError
from qdecomp.integrations.dspy import AnswerPlan


@pytest.fixture(autouse=True)
def _model() -> Iterator[None]:
    with dspy.context(
        lm=DummyLM({**{asked: {"answer": said} for asked, said in ANSWERS.items()}, "?": {"answer": "no plan"}})
    ):
        yield


@pytest.mark.parametrize(("question", "answer"), [(CHAIN, "Ulla"), (COMPARISON, "Arvo"), ("?", "no plan")])
def test_a_question_is_answered_hop_by_hop(question: str, answer: str) -> None:
    module = AnswerPlan(parser=FixedParser())
    found = module(question=question)
    assert found.answer == asyncio.run(module.acall(question=question)).answer == answer
    assert (found.run is None) == (question == "?")


def test_it_is_a_module_with_the_predictors_of_the_users() -> None:
    inner = dspy.Predict("question -> answer: str")
    module = AnswerPlan(inner, FixedParser())
    assert [name for name, _ in module.named_predictors()] == ["answer"]
    assert module.deepcopy()(question=CHAIN).answer == "Ulla"


def test_a_step_that_fails_is_named() -> None:
    def broken(**_: Any) -> None:
        raise ConnectionError("no model")

    with pytest.raises(QDecompError, match="has no answer: step 2: ConnectionError: no model"):
        AnswerPlan(broken, FixedParser())(question=CHAIN)
