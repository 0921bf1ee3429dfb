"""What all adapters share: which steps need no asking, and retrieving a framework's documents hop by hop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

from qdecomp.data_structures.operators import Operator
from qdecomp.parsers.parser import Parser
from qdecomp.planning.plan import Plan, PlanStep
from qdecomp.planning.retrieval import Passage

_ARTICLES = frozenset(("a", "an", "the"))
_WORDS_OF_A_TITLE = 6


def named_things(plan: Plan) -> dict[int, str]:
    """The steps that only name something, such as a person or a place, so that there is nothing to look up.

    >>> from qdecomp import Decomposition
    >>> named_things(Decomposition.of_text("", "return the Lord of the Rings ;return rivers in Texas").plan())
    {1: 'the Lord of the Rings'}
    """
    return {step.number: step.text for step in plan.steps if _names_itself(step)}


def _names_itself(step: PlanStep) -> bool:
    if step.operator is not Operator.SELECT or step.needs:
        return False
    words = step.text.split()
    if len(words) > 1 and words[0].lower() in _ARTICLES:
        words = words[1:]
    return all(word[:1].isupper() or word[:1].isdigit() for word in (words[0], words[-1]))


@dataclass(frozen=True, slots=True)
class DocumentSearch:
    """Retrieval with a framework's documents; ``read`` gives the text, the title and the score of one.

    A document without a title has its first words as title. A question that has no plan is searched for as it is.
    """

    parser: Parser
    read: Callable[[Any], tuple[str, Any, Any]]

    def find(self, question: str, most: int, search: Callable[[str], Iterable[Any]]) -> list[Any]:
        """The documents for a question, best first."""
        found: dict[Any, Any] = {}
        decomposition = self.parser.parse(question)
        if not decomposition:
            return list(search(question))[:most]
        plan = decomposition.plan()
        retrieval = plan.retrieve(lambda query, k: self._passages(search(query), k, found), most)
        return [found[passage.key] for passage in retrieval.passages]

    async def afind(self, question: str, most: int, search: Callable[[str], Awaitable[Iterable[Any]]]) -> list[Any]:
        """Like :meth:`find`, with an ``async`` function."""
        found: dict[Any, Any] = {}
        decomposition = await asyncio.to_thread(self.parser.parse, question)
        if not decomposition:
            return list(await search(question))[:most]

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
