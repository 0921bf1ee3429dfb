"""LangChain: Runnables that decompose questions and answer plans, for chains with ``|``.

``Decompose() | AnswerPlan(retriever | read)`` answers a question hop by hop. :class:`PlanRetriever` makes a multi-hop
retriever of any other, without a language model.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from qdecomp.data_structures.errors import missing_extra
from qdecomp.integrations.document_search import DocumentSearch
from qdecomp.parsers.decomposition import Decomposition
from qdecomp.parsers.parser import Parser, load
from qdecomp.planning.plan import Plan
from qdecomp.planning.running import PlanRun
from qdecomp.planning.sub_questions import SubQuestion

try:
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import Runnable, RunnableConfig
    from langchain_core.runnables.base import RunnableLike, coerce_to_runnable
    from langchain_core.runnables.config import patch_config, run_in_executor
except ImportError as error:
    raise ImportError(str(missing_extra("the adapter for LangChain", "langchain"))) from error

__all__ = ["AnswerPlan", "Decompose", "PlanRetriever"]

_CONCURRENCY = 4


class Decompose(Runnable[str, Decomposition]):
    """From a question to its decomposition; ``batch`` parses questions together, which is faster than one by one.

    A question that cannot be decomposed gives a falsy value whose ``error`` says why.
    """

    def __init__(self, parser: Parser | None = None) -> None:
        """The bundled parser is used if none is given."""
        self._parser = parser or load()

    def invoke(self, input: str, config: RunnableConfig | None = None, **kwargs: Any) -> Decomposition:
        """The decomposition of one question."""
        return self._call_with_config(self._parser.parse, input, config)

    def batch(
        self, inputs: list[str], config: Any = None, *, return_exceptions: bool = False, **kwargs: Any
    ) -> list[Decomposition]:
        """The decompositions of many questions, in their order."""

        def parse(questions: list[str]) -> list[Any]:
            return list(self._parser.pipe(questions))

        return self._batch_with_config(parse, inputs, config, return_exceptions=return_exceptions)

    async def abatch(
        self, inputs: list[str], config: Any = None, *, return_exceptions: bool = False, **kwargs: Any
    ) -> list[Decomposition]:
        """Like :meth:`batch`, in a thread."""
        return await run_in_executor(None, self.batch, inputs, config, return_exceptions=return_exceptions)


class AnswerPlan(Runnable[Decomposition, PlanRun]):
    """From a decomposition to the trace of its answers, each step answered by your own runnable.

    The runnable gets a :class:`qdecomp.SubQuestion`; its runs have the tag ``step:1`` and so on. ``max_concurrency`` of
    the config says how many steps are answered at the same time. A falsy decomposition raises
    :class:`qdecomp.QDecompError`, so that ``with_fallbacks`` can answer in another way.
    """

    def __init__(self, answer: RunnableLike[SubQuestion, Any], *, combine: bool = True) -> None:
        """``answer`` is a runnable or a function; with ``combine=False`` it answers every step, even counts."""
        self._answer: Runnable[SubQuestion, Any] = coerce_to_runnable(answer)
        self._combine = combine

    def invoke(self, input: Decomposition, config: RunnableConfig | None = None, **kwargs: Any) -> PlanRun:
        """Answer the steps in threads."""
        return self._call_with_config(self._run, input, config)

    async def ainvoke(self, input: Decomposition, config: RunnableConfig | None = None, **kwargs: Any) -> PlanRun:
        """Answer the steps in tasks of the event loop."""
        return await self._acall_with_config(self._arun, input, config)

    def _run(self, decomposition: Decomposition, run_manager: Any, config: RunnableConfig) -> PlanRun:
        def ask(question: SubQuestion) -> Any:
            return self._answer.invoke(question, _config_of_step(question, run_manager, config))

        plan = decomposition.plan()
        return plan.run(ask, **self._options(plan, config))

    async def _arun(self, decomposition: Decomposition, run_manager: Any, config: RunnableConfig) -> PlanRun:
        async def ask(question: SubQuestion) -> Any:
            return await self._answer.ainvoke(question, _config_of_step(question, run_manager, config))

        plan = decomposition.plan()
        return await plan.arun(ask, **self._options(plan, config))

    def _options(self, plan: Plan, config: RunnableConfig) -> dict[str, Any]:
        concurrency = config.get("max_concurrency") or _CONCURRENCY
        return {"concurrency": concurrency, "combine": self._combine, "answers": plan.names}


def _config_of_step(question: SubQuestion, run_manager: Any, config: RunnableConfig) -> RunnableConfig:
    return patch_config(config, callbacks=run_manager.get_child(f"step:{question.step.number}"))


class PlanRetriever(BaseRetriever):
    """Searches hop by hop with another retriever, see :meth:`qdecomp.Plan.retrieve`.

    A document's title is its metadata's ``title_key``. If a question has no plan, it is searched for as it is.
    """

    retriever: BaseRetriever
    parser: Any = None
    """The bundled parser is used if none is given."""
    k: int = 10
    title_key: str = "title"

    def model_post_init(self, context: Any) -> None:
        """Load the bundled parser once."""
        self.parser = self.parser or load()

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        search = partial(self.retriever.invoke, config={"callbacks": run_manager.get_child()})
        return self._search.find(query, self.k, search)

    async def _aget_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        search = partial(self.retriever.ainvoke, config={"callbacks": run_manager.get_child()})
        return await self._search.afind(query, self.k, search)

    @property
    def _search(self) -> DocumentSearch:
        return DocumentSearch(
            self.parser,
            lambda found: (found.page_content, found.metadata.get(self.title_key), found.metadata.get("score")),
        )
