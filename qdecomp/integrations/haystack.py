"""Haystack: a component that makes a multi-hop retriever of any other, without a language model."""

from __future__ import annotations

from typing import Any

from qdecomp.data_structures.errors import missing_extra
from qdecomp.integrations.asked_steps import DecomposesQuestions, FoundDocuments, parser_or_bundled
from qdecomp.planning.retrieval import Passage

try:
    from haystack import Document, component
except ImportError as error:
    raise ImportError(str(missing_extra("the adapter for Haystack", "haystack"))) from error

__all__ = ["PlanRetriever"]


@component
class PlanRetriever:
    """Searches hop by hop with another retriever, see :meth:`qdecomp.Plan.retrieve`.

    The retriever is a component with the input ``query`` and the output ``documents``. A document's title is its
    meta's ``title_key``. If a question has no plan, it is searched for as it is.
    """

    def __init__(
        self, retriever: Any, parser: DecomposesQuestions | None = None, top_k: int = 10, title_key: str = "title"
    ) -> None:
        """The bundled parser is used where none is given."""
        self._retriever = retriever
        self._parser = parser_or_bundled(parser)
        self._top_k = top_k
        self._title_key = title_key

    @component.output_types(documents=list[Document])
    def run(self, query: str, top_k: int | None = None) -> dict[str, list[Document]]:
        """The documents for a question, best first."""
        found = FoundDocuments()
        most = self._top_k if top_k is None else top_k

        def search(asked: str, k: int) -> list[Passage]:
            kept = self._retriever.run(query=asked)["documents"][:k]
            titles = (document.meta.get(self._title_key) for document in kept)
            texts = (document.content or "" for document in kept)
            return found.passages(kept, texts, titles, (document.score for document in kept))

        decomposition = self._parser.parse(query)
        passages = decomposition.plan().retrieve(search, most).passages if decomposition else search(query, most)
        return {"documents": found.documents(passages)}
