"""What all adapters share: which steps are asked, in what words, and the parser that makes the plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

from qdecomp.data_structures.operators import Operator
from qdecomp.parsers.decomposition import Decomposition
from qdecomp.parsers.parser import load
from qdecomp.planning.combining import is_combined
from qdecomp.planning.plan import Plan, PlanStep
from qdecomp.planning.retrieval import Passage

_ARTICLES = frozenset(("a", "an", "the"))
_WORDS_OF_A_TITLE = 6


class DecomposesQuestions(Protocol):
    """What an adapter needs from a parser; :class:`qdecomp.Parser` has it."""

    def parse(self, question: str) -> Decomposition:
        """The decomposition of a question."""

    def pipe(self, questions: Iterable[str]) -> Iterator[Decomposition]:
        """The decompositions of many questions, in their order."""


def parser_or_bundled(parser: DecomposesQuestions | None) -> DecomposesQuestions:
    """The parser that was given, or else the bundled one."""
    return load() if parser is None else parser


def names_itself(step: PlanStep) -> bool:
    """Whether a step only names something, such as a person or a place, so that there is nothing to look up.

    >>> from qdecomp import Decomposition
    >>> plan = Decomposition.of_text("", "return the Lord of the Rings ;return rivers in Texas ;return films").plan()
    >>> [names_itself(step) for step in plan.steps]
    [True, False, False]
    """
    if step.operator is not Operator.SELECT or step.needs:
        return False
    words = step.text.split()
    if len(words) > 1 and words[0].lower() in _ARTICLES:
        words = words[1:]
    return all(word[:1].isupper() or word[:1].isdigit() for word in (words[0], words[-1]))


def standalone_questions(plan: Plan) -> dict[int, str]:
    """Questions that can be asked in any order, by step: references are replaced by what they stand for.

    Two kinds of steps are left out: what a step selects is part of the questions that use it, and a step that combines
    several answers, such as a comparison, is left to whatever reads the answers.

    >>> from qdecomp import Decomposition
    >>> text = "return Arvo ;return Brenn ;return area of #1 ;return area of #2 ;return which is higher of #3 , #4"
    >>> standalone_questions(Decomposition.of_text("Which is larger, Arvo or Brenn?", text).plan())
    {3: 'What is the area of Arvo?', 4: 'What is the area of Brenn?'}
    """
    used = {number for step in plan.steps for number in step.needs}
    resolved = {step.number: step.resolved for step in plan.steps}
    return {
        step.number: str(step.question({number: resolved[number] for number in step.needs}))
        for step in plan.steps
        if not (step.operator is Operator.SELECT and step.number in used)
        and not (is_combined(step) and len(step.needs) > 1)
    }


class FoundDocuments:
    """A framework's documents as passages and back: what was found, by passage."""

    def __init__(self) -> None:
        self._documents: dict[Any, Any] = {}

    def passages(
        self, documents: Iterable[Any], texts: Iterable[str], titles: Iterable[Any], scores: Iterable[Any]
    ) -> list[Passage]:
        """The documents as passages; one without a title has its first words as title."""
        found = []
        for document, text, title, score in zip(documents, texts, titles, scores, strict=True):
            shown = str(title) if title else " ".join(text.split()[:_WORDS_OF_A_TITLE])
            passage = Passage(shown, text, float(score or 0.0))
            self._documents.setdefault(passage.key, document)
            found.append(passage)
        return found

    def documents(self, passages: Sequence[Passage]) -> list[Any]:
        """The documents of these passages, in their order."""
        return [self._documents[passage.key] for passage in passages]
