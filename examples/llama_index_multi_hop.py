"""Answer multi-hop questions with LlamaIndex and a toy retriever.

pip install '.[parser,llama-index]'
python examples/llama_index_multi_hop.py
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from llama_index.core.base.response.schema import Response
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import CustomQueryEngine, SubQuestionQueryEngine
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import QueryEngineTool
from toy_facts import rank

from qdecomp.integrations.llama_index import PlanQueryEngine, PlanQuestionGenerator

CHAIN = "Which river flows through the capital of the country where Mira Tovan was born?"
COMPARISON = "Which has a higher population, Hestvik or Port Anne?"


class FactRetriever(BaseRetriever):
    """Finds facts by the words that they share with a question."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = rank(query_bundle.query_str)[:3]
        return [NodeWithScore(node=TextNode(text=f.text, metadata={"answer": f.answer}), score=s) for s, f in found]


class FactEngine(CustomQueryEngine):
    """Answers with what the best fact says; a language model would read the facts here."""

    retriever: BaseRetriever

    def custom_query(self, query_str: str) -> Response:
        """The answer of the best fact, with its sources."""
        nodes = self.retriever.retrieve(query_str)
        return Response(nodes[0].node.metadata["answer"], source_nodes=nodes)


class LargestNumber(BaseSynthesizer):
    """Picks the sub-answer with the largest number; a language model would compare the answers here."""

    def get_response(self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any) -> str:
        """The sub-question and answer whose number is largest."""
        return max(text_chunks, key=lambda text: int(re.sub(r"\D", "", text) or 0))

    async def aget_response(self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any) -> str:
        """Like :meth:`get_response`."""
        return self.get_response(query_str, text_chunks)

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts: dict[str, Any]) -> None:
        """There are no prompts."""


def main() -> None:
    """Answer a chain of hops with a plan, and a comparison with independent sub-questions."""
    engine = FactEngine(retriever=FactRetriever())
    tool = QueryEngineTool.from_defaults(engine, name="facts", description="people, countries, towns and rivers")

    print(f"{CHAIN}\n\nRetrieved at once: {engine.query(CHAIN)}\n\nHop by hop:")
    response = PlanQueryEngine([tool]).query(CHAIN)
    for step in response.metadata["steps"]:
        print(f"  {step['step']}. {step['question']} {step['answer']}")
    print(f"Answer: {response}\n")

    compare = SubQuestionQueryEngine.from_defaults(
        [tool],
        llm=MockLLM(),
        question_gen=PlanQuestionGenerator(),
        response_synthesizer=LargestNumber(llm=MockLLM()),
        use_async=False,
        verbose=False,
    )
    print(f"{COMPARISON}\n\n{compare.query(COMPARISON)}")


if __name__ == "__main__":
    main()
