"""What the retrievers of all frameworks share: searching for a framework's documents hop by hop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

from qdecomp.parsers.parser import Parser
from qdecomp.planning.retrieval import Passage

_WORDS_OF_A_TITLE = 6


@dataclass(frozen=True, slots=True)
class DocumentSearch:
    """Retrieval with a framework's documents; ``read`` gives the text, the title and the score of one.

    A document without a title has its first words as title. A question that has no plan is searched for as it is.
    """

    parser: Parser
    read: Callable[[Any], tuple[str, Any, Any]]

    def find(self, question: str, most: int, search: Callable[[str], Iterable[Any]]) -> list[Any]:
        """The documents for a question, best first."""
        decomposition = self.parser.parse(question)
        if not decomposition:
            return list(search(question))[:most]
        found: dict[Any, Any] = {}
        retrieval = decomposition.plan().retrieve(lambda query, k: self._passages(search(query), k, found), most)
        return [found[passage.key] for passage in retrieval.passages]

    async def afind(self, question: str, most: int, search: Callable[[str], Awaitable[Iterable[Any]]]) -> list[Any]:
        """Like :meth:`find`, with an ``async`` function."""
        decomposition = await asyncio.to_thread(self.parser.parse, question)
        if not decomposition:
            return list(await search(question))[:most]
        found: dict[Any, Any] = {}

        async def passages(query: str, k: int) -> list[Passage]:
            return self._passages(await search(query), k, found)

        retrieval = await decomposition.plan().aretrieve(passages, most)
        return [found[passage.key] for passage in retrieval.passages]

    def _passages(self, documents: Iterable[Any], k: int, found: dict[Any, Any]) -> list[Passage]:
        passages = []
        for document in list(documents)[:k]:
            text, title, score = self.read(document)
            shown = str(title) if title else " ".join(text.split()[:_WORDS_OF_A_TITLE])
            passages.append(Passage(shown, text, float(score or 0.0)))
            found.setdefault(passages[-1].key, document)
        return passages
