"""LlamaIndex: sub-questions for its SubQuestionQueryEngine, and a query engine and a retriever that work hop by hop."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from typing import Any

from qdecomp.data_structures.errors import DataError, missing_extra
from qdecomp.integrations.document_search import DocumentSearch
from qdecomp.parsers.parser import Parser, load
from qdecomp.planning.answer_values import as_text
from qdecomp.planning.running import PlanRun
from qdecomp.planning.sub_questions import SubQuestion as PlanQuestion

try:
    from llama_index.core.base.base_query_engine import BaseQueryEngine
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.base.response.schema import RESPONSE_TYPE, Response
    from llama_index.core.callbacks.base import CallbackManager
    from llama_index.core.question_gen.types import BaseQuestionGenerator, SubQuestion
    from llama_index.core.schema import NodeWithScore, QueryBundle
    from llama_index.core.tools import QueryEngineTool, ToolMetadata
except ImportError as error:
    raise ImportError(str(missing_extra("the adapter for LlamaIndex", "llama-index"))) from error

__all__ = ["ChooseTool", "PlanQueryEngine", "PlanQuestionGenerator", "PlanRetriever", "tool_with_most_shared_words"]

ChooseTool = Callable[[str, Sequence[ToolMetadata]], str]
"""A function from a sub-question and the tools to the name of the tool that answers it."""


def tool_with_most_shared_words(question: str, tools: Sequence[ToolMetadata]) -> str:
    """The name of the tool whose name and description share the most words with the question."""

    def words(text: str) -> set[str]:
        return set(re.findall(r"[^\W_]+", text.lower()))

    asked = words(question)
    return str(max(tools, key=lambda tool: len(asked & words(f"{tool.name} {tool.description}"))).name)


class PlanQuestionGenerator(BaseQuestionGenerator):
    """Generates the sub-questions of a plan for LlamaIndex's ``SubQuestionQueryEngine``, without a language model.

    That engine asks all sub-questions independently, so none of them refers to the answer of another:
    "What is the capital of the country where Mira Tovan was born?". For questions whose later hops need the answers
    of earlier ones, use :class:`PlanQueryEngine`. If there is no plan, the question itself is the only one. The bundled
    parser is used where none is given.
    """

    def __init__(self, parser: Parser | None = None, choose_tool: ChooseTool = tool_with_most_shared_words) -> None:
        self._parser = parser or load()
        self._choose_tool = choose_tool

    def generate(self, tools: Sequence[ToolMetadata], query: QueryBundle) -> list[SubQuestion]:
        """The sub-questions of a question, each with the name of its tool."""
        _require_tools(tools)
        decomposition = self._parser.parse(query.query_str)
        questions = list(decomposition.plan().standalone_questions().values()) if decomposition else []
        return [
            SubQuestion(sub_question=question, tool_name=self._choose_tool(question, tools))
            for question in questions or [query.query_str]
        ]

    async def agenerate(self, tools: Sequence[ToolMetadata], query: QueryBundle) -> list[SubQuestion]:
        """Like :meth:`generate`, in a thread, so that the event loop is not blocked."""
        return await asyncio.to_thread(self.generate, tools, query)

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts: dict[str, Any]) -> None:
        """There are no prompts."""


class PlanQueryEngine(BaseQueryEngine):
    """Answers a question hop by hop: each step goes to a tool with the answers of earlier steps in its words.

    Counts, comparisons and the like are computed. ``read_answer`` turns a tool's response into a value. The response
    has the nodes of all hops as its sources, and the trace in ``metadata["steps"]``. If there is no plan, the question
    itself is asked. A hop that fails is a :class:`qdecomp.QDecompError` that names the step.
    """

    def __init__(
        self,
        tools: Sequence[QueryEngineTool],
        parser: Parser | None = None,
        *,
        choose_tool: ChooseTool = tool_with_most_shared_words,
        read_answer: Callable[[Any], Any] = str,
        concurrency: int = 4,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        self._metadata = [tool.metadata for tool in tools]
        _require_tools(self._metadata)
        self._engines = {str(tool.metadata.name): tool.query_engine for tool in tools}
        self._parser = parser or load()
        self._choose_tool = choose_tool
        self._read_answer = read_answer
        self._concurrency = concurrency
        super().__init__(callback_manager)

    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        decomposition = self._parser.parse(query_bundle.query_str)
        if not decomposition:
            return self._engine(query_bundle.query_str).query(query_bundle)
        responses: dict[int, Any] = {}

        def ask(question: PlanQuestion) -> Any:
            response = responses[question.step.number] = self._engine(question).query(str(question))
            return self._read_answer(response)

        plan = decomposition.plan()
        return _response(plan.run(ask, concurrency=self._concurrency, answers=plan.names), responses)

    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        decomposition = await asyncio.to_thread(self._parser.parse, query_bundle.query_str)
        if not decomposition:
            return await self._engine(query_bundle.query_str).aquery(query_bundle)
        responses: dict[int, Any] = {}

        async def ask(question: PlanQuestion) -> Any:
            response = responses[question.step.number] = await self._engine(question).aquery(str(question))
            return self._read_answer(response)

        plan = decomposition.plan()
        return _response(await plan.arun(ask, concurrency=self._concurrency, answers=plan.names), responses)

    def _engine(self, question: str) -> BaseQueryEngine:
        name = self._choose_tool(question, self._metadata)
        if name not in self._engines:
            raise DataError(f"there is no tool {name!r}; the tools are {', '.join(self._engines)}")
        return self._engines[name]

    def _get_prompt_modules(self) -> dict[str, Any]:
        return {}


class PlanRetriever(BaseRetriever):
    """Searches hop by hop with another retriever, see :meth:`qdecomp.Plan.retrieve`.

    A node's title is its metadata's ``title_key``. If a question has no plan, it is searched for as it is.
    """

    def __init__(
        self,
        retriever: BaseRetriever,
        parser: Parser | None = None,
        *,
        k: int = 10,
        title_key: str = "title",
        callback_manager: CallbackManager | None = None,
    ) -> None:
        self._retriever = retriever
        self._k = k
        self._search = DocumentSearch(
            parser or load(),
            lambda found: (found.node.get_content(), found.node.metadata.get(title_key), found.score),
        )
        super().__init__(callback_manager)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._search.find(query_bundle.query_str, self._k, self._retriever.retrieve)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await self._search.afind(query_bundle.query_str, self._k, self._retriever.aretrieve)


def _response(run: PlanRun, responses: dict[int, Any]) -> Response:
    if not run:
        raise DataError(f"{run.plan.question!r} has no answer: {run.error}")
    steps = [
        {"step": step.number, "question": str(step.question), "answer": step.answer, "outcome": str(step.outcome)}
        for step in run.steps
        if step.reason is None
    ]
    sources = [node for number in sorted(responses) for node in responses[number].source_nodes]
    return Response(as_text(run.answer), source_nodes=sources, metadata={"steps": steps})


def _require_tools(tools: Sequence[ToolMetadata]) -> None:
    if not tools:
        raise DataError("there are no tools to ask; give at least one")
    for tool in tools:
        if tool.name is None:
            raise DataError(f"a tool has no name: {tool.description!r}")
