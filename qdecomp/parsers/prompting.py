"""Prompts that ask a language model for a decomposition, with worked examples that resemble the question.

Examples come from a CSV with questions and decompositions, such as Break's or ``data/asked_train.csv`` of a clone. With
random ones, a model learns little of how plans look; with those that BM25 finds for the question, much more (Rubin et
al., 2022). A few of them with different operators say more than several of one kind.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from qdecomp.data_structures.errors import DataError, QDecompError, missing_extra
from qdecomp.data_structures.qdmr import parse_qdmr
from qdecomp.files.break_csv import iterate_break_csv

DEFAULT_EXAMPLES = 8
"""How many examples a prompt has if they are retrieved."""

# The candidates of an example, of which those with different operators are taken first.
_CANDIDATES = 5
_WORD = re.compile(r"\w+")

_INSTRUCTIONS = """\
Break a question down into simple steps that answer it together.

- {} Write nothing else.
- A step is a short phrase that names what is wanted, not a sentence and not an answer.
- #1 stands for the answer of step 1. A step uses what earlier steps found by their numbers.
- Each step does one thing. The last step answers the question.
- Keep to the words of the question where you can.

Use these phrases where they fit:"""
_LINES = "Write one step in each line, numbered from 1."


class PromptExample(NamedTuple):
    """A question, the steps that answer it, and their operators if they are known."""

    question: str
    steps: tuple[str, ...]
    operators: tuple[str, ...] = ()


PHRASES: tuple[tuple[str, str], ...] = (
    ("rivers", "all things of a kind"),
    ("#1 that are red", "those of step 1 that fit a description"),
    ("capitals of #1", "something that belongs to step 1"),
    ("number of #1", "how many there are; also highest, lowest, sum or average of #1"),
    ("number of #2 for each #1", "a figure for each member of a group"),
    ("#1 where #2 is highest", "those with the highest (or lowest) figure"),
    ("#1 where #2 is more than 100", "those whose figure fits a condition"),
    ("which is higher of #1 , #2", "the better one of two"),
    ("#1 , #2", "both together"),
    ("#1 in both #2 and #3", "what two steps have in common"),
    ("#1 besides #2", "what is left without others"),
    ("#1 sorted by #2", "in an order"),
    ("difference of #1 and #2", "a calculation; also sum, multiplication or division of"),
    ("if #1 is the same as #2", "a question that is answered by yes or no"),
)
"""A phrase and what it says, one for each operator."""

EXAMPLES = tuple(
    PromptExample(question, tuple(steps.split(" ; ")))
    for question, steps in (
        ("How many red mugs are on the shelf?", "mugs ; #1 that are red ; #2 on the shelf ; number of #3"),
        (
            "Who directed the film that won the most prizes in Venice?",
            "films ; prizes of #1 won in Venice ; number of #2 for each #1 ; #1 where #3 is highest ; director of #4",
        ),
        (
            "Is the bridge in Porto longer than the one in Lisbon?",
            "bridge in Porto ; bridge in Lisbon ; length of #1 ; length of #2 ; if #3 is more than #4",
        ),
        (
            "Which libraries lend both games and tools?",
            "libraries ; #1 that lend games ; #1 that lend tools ; #1 in both #2 and #3",
        ),
        (
            "How many more goals did Ana score than Bea in 2019?",
            "goals in 2019 ; #1 that Ana scored ; #1 that Bea scored ; number of #2 ; number of #3 ; "
            "difference of #4 and #5",
        ),
        (
            "List the names and prices of all lamps that are not made of glass, the cheapest first.",
            "lamps ; #1 that are made of glass ; #1 besides #2 ; names of #3 ; prices of #3 ; #4 , #5 ; "
            "#6 sorted by #5",
        ),
    )
)
"""Questions of different kinds, for a prompt without retrieved examples."""


class ExampleStore:
    """The questions of a file with their decompositions, found by BM25."""

    def __init__(self, path: str | Path) -> None:
        try:
            import bm25s
        except ImportError:
            raise missing_extra("retrieving examples", "llm") from None
        self._rows = [
            (" ".join(row.question.split()), row.decomposition, row.operators)
            for row in iterate_break_csv(path)
            if row.error is None and row.decomposition is not None
        ]
        if not self._rows:
            raise DataError(f"{path}: there is no question with a decomposition in it")
        self.fingerprint = hashlib.blake2b(json.dumps(self._rows).encode(), digest_size=8).hexdigest()
        """Another one for other examples."""
        self._tokenize: Any = bm25s.tokenize
        self._index = bm25s.BM25()
        self._index.index(self._tokens([question for question, _, _ in self._rows]), show_progress=False)

    def __call__(self, question: str, count: int) -> list[PromptExample]:
        """Examples that resemble a question, the nearest one last; a row with the same question is not among them."""
        if count == 0:
            return []
        wanted = min(_CANDIDATES * count + 1, len(self._rows))
        numbers, _ = self._index.retrieve(self._tokens([question]), k=wanted, show_progress=False)
        found = [example for number in numbers[0] if (example := self._example(number, question)) is not None]
        # The first one of each kind, then the others.
        kinds = {example.operators: number for number, example in reversed(list(enumerate(found)))}
        ranks = sorted(range(len(found)), key=lambda number: (kinds[found[number].operators] != number, number))
        return [found[number] for number in sorted(ranks[:count], reverse=True)]

    def _example(self, number: int, asked: str) -> PromptExample | None:
        """A row as an example, unless it has the question that is asked or its decomposition cannot be read."""
        question, decomposition, operators = self._rows[number]
        if _WORD.findall(question.lower()) == _WORD.findall(asked.lower()):
            return None
        try:
            return PromptExample(question, tuple(step.text for step in parse_qdmr(decomposition).steps), operators)
        except QDecompError:
            return None

    def _tokens(self, texts: Sequence[str]) -> Any:
        # The small words of a question, such as "how many" and "each", say much about its plan.
        return self._tokenize(list(texts), stopwords=None, show_progress=False)


@lru_cache(maxsize=4)
def open_examples(path: str | None = None) -> ExampleStore:
    """The examples of a file, or of the selection in the package; they are read once."""
    return ExampleStore(path or str(files(__package__).joinpath("examples.csv")))


def prompt_for(question: str, examples: Sequence[PromptExample] = EXAMPLES) -> str:
    """The prompt for a question as one text, which a person can give to any model."""
    system, *turns, asked = (message["content"] for message in messages_for(question, examples))
    shown = (f"{turn}\nSteps:\n{answer}" for turn, answer in zip(turns[::2], turns[1::2], strict=True))
    return "\n\n".join([system, *shown, f"{asked}\nSteps:"])


def messages_for(
    question: str, examples: Sequence[PromptExample] = EXAMPLES, *, as_json: bool = False
) -> list[dict[str, str]]:
    """The prompt as the messages of a conversation, in which examples are earlier answers.

    ``as_json`` asks for ``{"steps": […]}`` instead of numbered lines.
    """
    form = 'Answer with a JSON object {"steps": […]} that has one string for each step.' if as_json else _LINES
    phrases = "".join(f"\n- {phrase}: {what}" for phrase, what in PHRASES)
    messages = [{"role": "system", "content": _INSTRUCTIONS.format(form) + phrases}]
    for example in examples:
        steps = json.dumps({"steps": example.steps}, ensure_ascii=False) if as_json else _numbered(example.steps)
        messages.append({"role": "user", "content": f"Question: {example.question}"})
        messages.append({"role": "assistant", "content": steps})
    return [*messages, {"role": "user", "content": f"Question: {' '.join(question.split())}"}]


def _numbered(steps: Sequence[str]) -> str:
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, start=1))
