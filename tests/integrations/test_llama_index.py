"""The adapter for LlamaIndex, against the real package."""

# What needs the framework is imported once it is known to be there.
# ruff: noqa: E402

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.integrations.frameworks import ANSWERS, CHAIN, COMPARISON, FixedParser, require, run_example

require("llama_index.core")

from llama_index.core.base.response.schema import Response
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import CustomQueryEngine, SubQuestionQueryEngine
from llama_index.core.response_synthesizers.no_text import NoText
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import QueryEngineTool, ToolMetadata

from qdecomp import QDecompError
from qdecomp.integrations.llama_index import PlanQueryEngine, PlanQuestionGenerator

TOOLS = [ToolMetadata("rivers and towns", name="places"), ToolMetadata("the population of islands", name="people")]


class Answers(CustomQueryEngine):
    """Looks answers up; a question that it does not know is a KeyError."""

    name: str

    def custom_query(self, query_str: str) -> Response:
        node = NodeWithScore(node=TextNode(text=f"{self.name}: {query_str}"), score=1.0)
        return Response(ANSWERS.get(query_str) or {"?": "no plan"}[query_str], source_nodes=[node])


def tools() -> list[QueryEngineTool]:
    return [QueryEngineTool(query_engine=Answers(name=str(tool.name)), metadata=tool) for tool in TOOLS]


def test_without_a_plan_the_question_is_asked_as_it_is() -> None:
    (only,) = PlanQuestionGenerator(FixedParser()).generate(TOOLS, QueryBundle("?"))
    assert (only.sub_question, only.tool_name) == ("?", "places")
    assert str(PlanQueryEngine(tools(), FixedParser()).query("?")) == "no plan"
    assert str(asyncio.run(PlanQueryEngine(tools(), FixedParser()).aquery("?"))) == "no plan"


def test_the_generator_serves_the_sub_question_query_engine() -> None:
    engine = SubQuestionQueryEngine.from_defaults(
        tools(),
        llm=MockLLM(),
        question_gen=PlanQuestionGenerator(FixedParser()),
        response_synthesizer=NoText(llm=MockLLM()),
        use_async=False,
        verbose=False,
    )
    texts = [node.node.get_content() for node in engine.query(COMPARISON).source_nodes]
    assert "Sub question: What is the population of Arvo?\nResponse: 740" in texts
    assert "people: What is the population of Brenn?" in texts
    assert len(asyncio.run(engine.aquery(COMPARISON)).source_nodes) == len(texts)


@pytest.mark.parametrize(("question", "answer"), [(CHAIN, "Ulla"), (COMPARISON, "Arvo")])
def test_the_query_engine_answers_hop_by_hop(question: str, answer: str) -> None:
    engine = PlanQueryEngine(tools(), FixedParser())
    response = engine.query(question)
    assert str(response) == answer
    assert response.metadata is not None
    assert response.metadata["steps"][-1]["answer"] == answer
    assert len(response.source_nodes) == 2
    assert str(asyncio.run(engine.aquery(question))) == answer


def test_answers_can_be_read_as_other_values() -> None:
    engine = PlanQueryEngine(tools(), FixedParser(), read_answer=lambda response: int(str(response)), concurrency=1)
    response = engine.query(COMPARISON)
    assert response.metadata is not None
    assert [step["answer"] for step in response.metadata["steps"][2:]] == [740, 120, "Arvo"]


def test_what_goes_wrong_is_said() -> None:
    with pytest.raises(QDecompError, match="no tools"):
        PlanQueryEngine([], FixedParser())
    with pytest.raises(QDecompError, match="no tools"):
        PlanQuestionGenerator(FixedParser()).generate([], QueryBundle(CHAIN))
    with pytest.raises(QDecompError, match="has no name"):
        PlanQuestionGenerator(FixedParser()).generate([ToolMetadata("towns", name=None)], QueryBundle(CHAIN))
    with pytest.raises(QDecompError, match="no answer: step 2: there is no tool 'other'; the tools are places, people"):
        PlanQueryEngine(tools(), FixedParser(), choose_tool=lambda question, tools: "other").query(CHAIN)


def test_the_example_answers_its_questions(project_root: Path) -> None:
    output = run_example(project_root, "llama_index_multi_hop.py")
    assert "Answer: the Ulla\n" in output
    assert output.endswith("Sub question: What is the population of Hestvik?\nResponse: 48,000\n")
