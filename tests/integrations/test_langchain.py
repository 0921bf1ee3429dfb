"""The adapter for LangChain, against the real package."""

# What needs the framework is imported once it is known to be there.
# ruff: noqa: E402

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.integrations.frameworks import ANSWERS, CHAIN, COMPARISON, FixedParser, require, run_example

require("langchain_core")

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableLambda

from qdecomp import QDecompError, SubQuestion
from qdecomp.integrations.langchain import AnswerPlan, Decompose


class Tags(BaseCallbackHandler):
    """Notes the tags of all runs."""

    def __init__(self) -> None:
        self.tags: list[str] = []

    def on_chain_start(self, *arguments: Any, tags: list[str] | None = None, **others: Any) -> None:
        self.tags += tags or []


def look_up(question: str) -> str:
    return ANSWERS[question]


def test_names_are_not_asked_and_comparisons_are_computed() -> None:
    asked: list[SubQuestion] = []

    def note(question: SubQuestion) -> str:
        asked.append(question)
        return ANSWERS[question]

    run = (Decompose(FixedParser()) | AnswerPlan(note)).invoke(COMPARISON)
    assert run.answer == "Arvo"
    assert sorted(question.step.number for question in asked) == [3, 4]


def test_the_same_without_blocking() -> None:
    async def look_up_later(question: str) -> str:
        await asyncio.sleep(0)
        return ANSWERS[question]

    chain = Decompose(FixedParser()) | AnswerPlan(RunnableLambda(look_up_later))
    assert asyncio.run(chain.ainvoke(COMPARISON)).answer == "Arvo"


def test_a_batch_is_parsed_together() -> None:
    parser = FixedParser()
    found = Decompose(parser).batch([CHAIN, "?", COMPARISON])
    assert [decomposition.question for decomposition in found] == [CHAIN, "?", COMPARISON]
    assert [bool(decomposition) for decomposition in found] == [True, False, True]
    assert asyncio.run(Decompose(parser).abatch([CHAIN, COMPARISON])) == [found[0], found[2]]
    assert parser.batches == [3, 2]
    runs = (Decompose(parser) | AnswerPlan(look_up)).batch([CHAIN, COMPARISON])
    assert [run.answer for run in runs] == ["Ulla", "Arvo"]


def test_steps_are_traced() -> None:
    tags = Tags()
    (Decompose(FixedParser()) | AnswerPlan(look_up)).invoke(CHAIN, {"callbacks": [tags], "max_concurrency": 1})
    assert [tag for tag in tags.tags if tag.startswith("step:")] == ["step:2", "step:3"]


def test_without_a_plan_a_fallback_answers() -> None:
    chain = Decompose(FixedParser()) | AnswerPlan(look_up) | (lambda run: run.answer)
    with pytest.raises(QDecompError, match="not a question"):
        chain.invoke("?")
    assert chain.with_fallbacks([RunnableLambda(lambda question: f"asked {question}")]).invoke("?") == "asked ?"


def test_the_example_answers_its_question(project_root: Path) -> None:
    output = run_example(project_root, "langchain_multi_hop.py")
    assert "Retrieved at once: Norland" in output
    assert output.splitlines()[-1] == "Answer: the Ulla"
