"""What LF-EM sees of a step before it looks at the question: operator, references, and the words that count."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import TypeAlias

from qdecomp.data_structures.conversion.qdmr_to_lf import read_step, to_logical_form
from qdecomp.data_structures.errors import QdmrSyntaxError
from qdecomp.data_structures.lexicon import removed_words
from qdecomp.data_structures.limits import MOST_STEPS
from qdecomp.data_structures.logical_form import LogicalForm, LogicalStep
from qdecomp.data_structures.operators import OPERATORS, Operator
from qdecomp.data_structures.qdmr import Qdmr, check_references, parse_step_text, reference_number, split_into_steps

__all__ = ["StepContent", "content_of_step", "contents_of_decomposition"]

StepContent: TypeAlias = tuple[
    str, tuple[str, ...], tuple[tuple[str, int], ...], tuple[str, ...], tuple[str, ...], bool
]
"""The operator, its properties, its edges (an argument and the number of a step), the words that count for the
published metric and for the strict one, and whether the published rules have no operator for the step.

Tens of thousands of these are kept. Python's garbage collector does not walk through plain tuples of texts and numbers,
as it does through values with names, and through sets.
"""

_SPLIT = re.compile(r"\W+")


def contents_of_decomposition(decomposition: str | Qdmr | LogicalForm) -> Sequence[StepContent]:
    """The contents of all steps; raises as :func:`~qdecomp.data_structures.conversion.qdmr_to_lf.to_logical_form`."""
    if isinstance(decomposition, str):
        parts = [_content_of_text(text) for text in split_into_steps(decomposition)]
        contents = [content for content, _ in parts if content is not None]
        # What is unusual, such as a step without words, is read again and refused or repaired there.
        if 0 < len(contents) == len(parts) <= MOST_STEPS:
            check_references([references for _, references in parts])
            return contents
    form = decomposition if isinstance(decomposition, LogicalForm) else to_logical_form(decomposition)
    return [content_of_step(step) for step in form.steps]


@lru_cache(maxsize=65536)
def _content_of_text(text: str) -> tuple[StepContent | None, tuple[int, ...]]:
    """The content of a step of a decomposition and the steps that it refers to, or None if it cannot be read."""
    try:
        step = parse_step_text(text)
    except QdmrSyntaxError:
        return None, ()
    return (None, ()) if step is None else (_content(*read_step(step)), step.references)


def content_of_step(step: LogicalStep) -> StepContent:
    """The content of a step of a logical form."""
    arguments = [(argument.name, argument.tokens) for argument in step.arguments]
    return _content(step.operator, step.properties, arguments, step.approximate)


def _content(
    operator: Operator, properties: tuple[str, ...], arguments: Iterable[tuple[str, Sequence[str]]], approximate: bool
) -> StepContent:
    hides_words, removed, removed_strictly = _what_is_removed(operator, properties)
    edges: list[tuple[str, int]] = []
    published_words: list[str] = []
    strict_words: list[str] = []
    for name, tokens in arguments:
        words = []
        for token in tokens:
            if token[0] == "#" and (number := reference_number(token)) is not None:
                edges.append((name, number))
            else:
                words.append(token.lower())
        is_hidden = hides_words and len(words) < len(tokens)
        for word in words:
            pieces = (word,) if word.isalnum() else [piece for piece in _SPLIT.split(word) if piece]
            if word not in removed_strictly:
                strict_words += pieces
            if not is_hidden and word not in removed:
                published_words += pieces
    return operator.value, properties, tuple(edges), tuple(published_words), tuple(strict_words), approximate


@cache
def _what_is_removed(operator: Operator, properties: tuple[str, ...]) -> tuple[bool, frozenset[str], frozenset[str]]:
    """Whether references hide the words next to them, and the words that do not count, as published and strictly."""
    removed, removed_strictly = [removed_words(operator, properties, strict) for strict in (False, True)]
    return OPERATORS[operator].references_hide_words, removed, removed_strictly
