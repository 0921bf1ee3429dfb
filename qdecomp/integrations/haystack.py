"""Haystack: a component that makes a multi-hop retriever of any other, without a language model."""

from __future__ import annotations

from typing import Any

from qdecomp.data_structures.errors import missing_extra
from qdecomp.integrations.document_search import DocumentSearch
from qdecomp.parsers.parser import Parser, load

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

    def __init__(self, retriever: Any, parser: Parser | None = None, top_k: int = 10, title_key: str = "title") -> None:
        """The bundled parser is used where none is given."""
        self._retriever = retriever
        self._top_k = top_k
        self._search = DocumentSearch(
            parser or load(), lambda document: (document.content or "", document.meta.get(title_key), document.score)
        )

    @component.output_types(documents=list[Document])
    def run(self, query: str, top_k: int | None = None) -> dict[str, list[Document]]:
        """The documents for a question, best first."""
        most = self._top_k if top_k is None else top_k
        return {
            "documents": self._search.find(query, most, lambda asked: self._retriever.run(query=asked)["documents"])
        }
