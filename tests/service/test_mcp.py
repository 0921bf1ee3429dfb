"""``qdecomp mcp``: all tools through the protocol's own client, over standard input and output."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest

mcp = pytest.importorskip("mcp", reason="mcp is not installed: make adapters", exc_type=ImportError)

QUESTION = "Which has more inhabitants, Arvo or Brenn?"
STEPS = (
    "return Arvo ;return Brenn ;return number of inhabitants of #1 ;return number of inhabitants of #2 ;"
    "return which is highest of #3 , #4"
)


@pytest.fixture(scope="module")
def answers() -> dict[str, Any]:
    """The answers of one server to all calls of these tests."""
    calls: dict[str, tuple[str, dict[str, Any]]] = {
        "parse": ("parse", {"question": "How many rivers are in Texas?"}),
        "plan": ("plan", {"question": "How many rivers are in Texas?"}),
        "first": ("next_steps", {"question": QUESTION, "decomposition": STEPS}),
        "later": ("next_steps", {"question": QUESTION, "decomposition": STEPS, "answers": {"1": "Arvo", "2": "Brenn"}}),
        "last": (
            "next_steps",
            {"question": QUESTION, "decomposition": STEPS, "answers": {"1": "Arvo", "2": "Brenn", "3": 740, "4": 120}},
        ),
        "convert": ("convert", {"question": "red cubes", "decomposition": "1. cubes\n2. #1 that are red"}),
        "score": ("score", {"question": QUESTION, "prediction": STEPS, "gold": STEPS}),
        "no such step": ("next_steps", {"question": QUESTION, "decomposition": STEPS, "answers": {"9": 1}}),
        "too long": ("parse", {"question": "x" * 100_000}),
        "not a question": ("plan", {"question": "12345"}),
    }

    async def ask() -> dict[str, Any]:
        server = mcp.StdioServerParameters(command=sys.executable, args=["-m", "qdecomp", "mcp"])
        async with mcp.stdio_client(server) as streams, mcp.ClientSession(*streams) as session:
            await session.initialize()
            found: dict[str, Any] = {"tools": [tool.name for tool in (await session.list_tools()).tools]}
            for name, (tool, arguments) in calls.items():
                found[name] = await session.call_tool(tool, arguments)
            return found

    return asyncio.run(asyncio.wait_for(ask(), 120))


def test_a_question_is_parsed_and_planned(answers: dict[str, Any]) -> None:
    assert answers["tools"] == ["parse", "plan", "next_steps", "convert", "score"]
    parsed, planned = answers["parse"].structured_content, answers["plan"].structured_content
    assert parsed["decomposition"] == planned["decomposition"]
    assert 0 < parsed["confidence"] <= 1
    assert planned["levels"][-1][-1]["question"].startswith("How many")


def test_next_steps_lead_to_the_answer(answers: dict[str, Any]) -> None:
    first, later, last = (answers[name].structured_content for name in ("first", "later", "last"))
    assert [each["number"] for each in first["ask"]] == [1, 2]
    assert [each["question"] for each in later["ask"]] == [
        "What is the number of inhabitants of Arvo?",
        "What is the number of inhabitants of Brenn?",
    ]
    assert (last["ask"], last["answer"]) == ([], "Arvo")


def test_steps_are_checked_and_scored(answers: dict[str, Any]) -> None:
    assert answers["convert"].structured_content["decomposition"] == "return cubes ;return #1 that are red"
    assert answers["score"].structured_content["scores"]["lf_em"] == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no such step", "answers has '9'; the steps are 1 to 5"),
        ("too long", "the question is too long"),
        ("not a question", "there is no plan"),
    ],
)
def test_what_is_wrong_is_said(answers: dict[str, Any], name: str, message: str) -> None:
    assert answers[name].is_error
    assert message in answers[name].content[0].text
