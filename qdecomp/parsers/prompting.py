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
from pathlib import Path
from typing import Any, NamedTuple

from qdecomp.data_structures.errors import DataError, QDecompError, missing_extra
from qdecomp.data_structures.qdmr import parse_qdmr
from qdecomp.files.break_csv import iterate_break_csv

__all__ = ["EXAMPLES", "PHRASES", "ExampleStore", "PromptExample", "messages_for", "open_examples", "prompt_for"]

DEFAULT_EXAMPLES = 8
"""How many examples a prompt has if they are retrieved."""

# The candidates of an example, of which those with different operators are taken first.
_CANDIDATES = 5
_WORD = re.compile(r"\w+")

_INSTRUCTIONS = """\
Break a question down into simple steps that answer it together.

- Write one step in each line, numbered from 1. Write nothing else.
- A step is a short phrase that names what is wanted, not a sentence and not an answer.
- #1 stands for the answer of step 1. A step uses what earlier steps found by their numbers.
- Each step does one thing. The last step answers the question.
- Keep to the words of the question where you can.

Use these phrases where they fit:
"""


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

EXAMPLES: tuple[PromptExample, ...] = (
    PromptExample(
        "How many red mugs are on the shelf?", ("mugs", "#1 that are red", "#2 on the shelf", "number of #3")
    ),
    PromptExample(
        "Who directed the film that won the most prizes in Venice?",
        (
            "films",
            "prizes of #1 won in Venice",
            "number of #2 for each #1",
            "#1 where #3 is highest",
            "director of #4",
        ),
    ),
    PromptExample(
        "Is the bridge in Porto longer than the one in Lisbon?",
        ("bridge in Porto", "bridge in Lisbon", "length of #1", "length of #2", "if #3 is more than #4"),
    ),
    PromptExample(
        "Which libraries lend both games and tools?",
        ("libraries", "#1 that lend games", "#1 that lend tools", "#1 in both #2 and #3"),
    ),
    PromptExample(
        "How many more goals did Ana score than Bea in 2019?",
        (
            "goals in 2019",
            "#1 that Ana scored",
            "#1 that Bea scored",
            "number of #2",
            "number of #3",
            "difference of #4 and #5",
        ),
    ),
    PromptExample(
        "List the names and prices of all lamps that are not made of glass, the cheapest first.",
        (
            "lamps",
            "#1 that are made of glass",
            "#1 besides #2",
            "names of #3",
            "prices of #3",
            "#4 , #5",
            "#6 sorted by #5",
        ),
    ),
)
"""Questions of different kinds, for a prompt without retrieved examples."""


class ExampleStore:
    """The questions of a file with their decompositions, found by BM25."""

    def __init__(self, path: str | Path) -> None:
        try:
            import bm25s
        except ImportError:
            raise missing_extra("retrieved examples", "llm") from None
        self._rows = [
            (" ".join(row.question.split()), row.decomposition, row.operators)
            for row in iterate_break_csv(path)
            if row.error is None and row.decomposition is not None
        ]
        if not self._rows:
            raise DataError(f"{path}: there is no question with a decomposition in it")
        digest = hashlib.blake2b(json.dumps(self._rows).encode(), digest_size=8)
        self.fingerprint = digest.hexdigest()
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
        kinds: set[tuple[str, ...]] = set()
        first: list[PromptExample] = []
        others: list[PromptExample] = []
        for example in found:
            (others if example.operators in kinds else first).append(example)
            kinds.add(example.operators)
        chosen = [*first, *others][:count]
        return sorted(chosen, key=found.index, reverse=True)

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
def open_examples(path: str) -> ExampleStore:
    """The examples of a file, which is read once."""
    return ExampleStore(path)


def _instructions() -> str:
    return _INSTRUCTIONS + "".join(f"- {phrase}: {what}\n" for phrase, what in PHRASES)


def prompt_for(question: str, examples: Sequence[PromptExample] = EXAMPLES) -> str:
    """The prompt for a question as one text, which a person can give to any model."""
    shown = (f"Question: {example.question}\nSteps:\n{_numbered(example.steps)}" for example in examples)
    asked = f"Question: {' '.join(question.split())}\nSteps:"
    return "\n\n".join([_instructions().rstrip("\n"), *shown, asked])


def messages_for(
    question: str, examples: Sequence[PromptExample] = EXAMPLES, *, as_json: bool = False
) -> list[dict[str, str]]:
    """The prompt as the messages of a conversation, in which examples are earlier answers.

    ``as_json`` asks for ``{"steps": […]}`` instead of numbered lines.
    """
    instructions = _instructions()
    if as_json:
        instructions = instructions.replace(
            "Write one step in each line, numbered from 1. Write nothing else.",
            'Answer with a JSON object {"steps": […]} that has one string for each step. Write nothing else.',
        )
    write = _json if as_json else _numbered
    messages = [{"role": "system", "content": instructions.rstrip("\n")}]
    for example in examples:
        messages.append({"role": "user", "content": f"Question: {example.question}"})
        messages.append({"role": "assistant", "content": write(example.steps)})
    return [*messages, {"role": "user", "content": f"Question: {' '.join(question.split())}"}]


def _numbered(steps: Sequence[str]) -> str:
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, start=1))


def _json(steps: Sequence[str]) -> str:
    return json.dumps({"steps": list(steps)}, ensure_ascii=False)
