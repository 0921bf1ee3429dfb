"""The retrievers of LangChain, LlamaIndex and Haystack: each wraps one of its framework and searches hop by hop."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.integrations.frameworks import CHAIN, FixedParser, require

TEXTS = {
    "Norland": "Norland is a country. Its capital is Hestvik, a town by the sea.",
    "Hestvik": "Hestvik is a town of 9,000 inhabitants. The Ulla runs past its market.",
    "Rivers": "A river flows through many a capital.",
    "Capital": "The capital of a country, through which a river flows.",
}
UNPLANNED = "rivers"


def ranked(query: str) -> list[str]:
    """The titles of the texts that share the most words with a query."""
    asked = set(re.findall(r"\w+", query.lower()))
    scores = {title: len(asked & set(re.findall(r"\w+", f"{title} {text}".lower()))) for title, text in TEXTS.items()}
    return sorted((title for title in TEXTS if scores[title]), key=lambda title: -scores[title])


def langchain(asynchronous: bool) -> Callable[[str], list[str]]:
    require("langchain_core")
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

    from qdecomp.integrations.langchain import PlanRetriever

    class Words(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
            return [Document(TEXTS[title], metadata={"title": title}) for title in ranked(query)]

    retriever = PlanRetriever(retriever=Words(), parser=FixedParser(), k=2)

    def find(question: str) -> list[str]:
        found = asyncio.run(retriever.ainvoke(question)) if asynchronous else retriever.invoke(question)
        return [document.metadata["title"] for document in found]

    return find


def llama_index(asynchronous: bool) -> Callable[[str], list[str]]:
    require("llama_index.core")
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

    from qdecomp.integrations.llama_index import PlanRetriever

    class Words(BaseRetriever):
        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            titles = ranked(query_bundle.query_str)
            return [
                NodeWithScore(node=TextNode(text=TEXTS[title], metadata={"title": title}), score=1 / (1 + rank))
                for rank, title in enumerate(titles)
            ]

    retriever = PlanRetriever(Words(), FixedParser(), k=2)

    def find(question: str) -> list[str]:
        found = asyncio.run(retriever.aretrieve(question)) if asynchronous else retriever.retrieve(question)
        return [node.metadata["title"] for node in found]

    return find


def haystack(asynchronous: bool) -> Callable[[str], list[str]]:
    require("haystack")
    if asynchronous:
        pytest.skip("Haystack's components are called without await")
    from haystack import Document, Pipeline, component

    from qdecomp.integrations.haystack import PlanRetriever

    @component
    class Words:
        @component.output_types(documents=list[Document])
        def run(self, query: str) -> dict[str, list[Document]]:
            return {"documents": [Document(content=TEXTS[title], meta={"title": title}) for title in ranked(query)]}

    pipeline = Pipeline()
    pipeline.add_component("retriever", PlanRetriever(Words(), FixedParser(), top_k=2))

    def find(question: str) -> list[str]:
        found = pipeline.run({"retriever": {"query": question}})["retriever"]["documents"]
        return [document.meta["title"] for document in found]

    return find


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("framework", [langchain, llama_index, haystack])
def test_a_plan_finds_what_one_search_does_not(framework: Callable[..., Any], asynchronous: bool) -> None:
    find = framework(asynchronous)
    assert "Hestvik" not in ranked(CHAIN)[:2]
    assert set(find(CHAIN)) == {"Norland", "Hestvik"}
    assert find(UNPLANNED) == ranked(UNPLANNED)[:2]
