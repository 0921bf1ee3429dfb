"""Reading decompositions that were not written as Break writes them: the lists, JSON and sentences of language models.

:func:`read_decomposition` is the only entry point. It returns Break's text, so that everything after it (logical
forms, metrics, pages) works on one form. The tables are ``forms.FORMS`` (how steps are separated),
``markup.WRAPPINGS`` (what is around them), ``references.STYLES`` (how steps name each other),
``phrases.QUESTIONS`` and ``COMMANDS`` (how sentences say what steps say) and ``phrases.WORDINGS`` (other words for the
same). To read another form, add a row.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from textwrap import dedent
from typing import Any

from qdecomp.data_structures.errors import QdmrSyntaxError, Reason
from qdecomp.data_structures.limits import LONGEST_ANSWER, LONGEST_DECOMPOSITION, MOST_MEMBERS, MOST_STEPS, above
from qdecomp.data_structures.qdmr import Qdmr, format_qdmr, parse_qdmr
from qdecomp.data_structures.reading.forms import BREAK, FORMS
from qdecomp.data_structures.reading.lists import WrittenStep
from qdecomp.data_structures.reading.markup import after_thoughts, no_answer, plain, unwrap
from qdecomp.data_structures.reading.phrases import usual_wording, without_sentences, without_stops_after_references
from qdecomp.data_structures.reading.references import (
    IN_WORDS,
    NATIVE,
    UNMISTAKABLE,
    with_mentions,
    with_names,
    with_needs,
    with_references,
)
from qdecomp.data_structures.reading.structured import steps_of_value

__all__ = ["BREAK_FORM", "Reading", "read_decomposition"]

BREAK_FORM = BREAK.name  # of Break's own text
NO_ANSWER = "no answer"  # the form of what is no decomposition at all; its text is empty
_MANY_WORDS = 40
_HAS_REFERENCE = re.compile(r"#\d")
_LIST = "list"  # the form of what is given as data
# Forms whose only member may hold a whole decomposition, and those recognised by nothing but line breaks.
_MAY_HOLD_ALL = frozenset({_LIST, "JSON", "tags", "a line for each step"})
_WITHOUT_SIGNS = frozenset({"a line for each step", FORMS[-1].name})
_MAY_BE_NO_ANSWER = frozenset({*_WITHOUT_SIGNS, "semicolons", ">>"})


@dataclass(frozen=True, slots=True)
class Reading:
    """A decomposition as Break's text, and how it was originally written.

    ``form`` says how the steps were separated (:data:`BREAK_FORM` if nothing had to be done), ``wrapped_in`` what was
    around them, and ``references`` how the steps named each other. ``doubt`` says why the text may have been misread;
    there is a text even if it is not a decomposition, except for a refusal or SQL.
    """

    text: str
    form: str
    references: str = NATIVE
    wrapped_in: tuple[str, ...] = ()
    doubt: str | None = None

    @property
    def qdmr(self) -> Qdmr:
        """The decomposition; a text that is not one raises :class:`~qdecomp.data_structures.errors.QdmrSyntaxError`."""
        if not self.text and self.doubt is not None:
            raise QdmrSyntaxError(self.doubt)
        return parse_qdmr(self.text)

    @property
    def steps(self) -> tuple[str, ...]:
        """The texts of the steps, without ``return``; raises as :attr:`qdmr` does."""
        return tuple(step.text for step in self.qdmr.steps)

    def __str__(self) -> str:
        return self.text


def read_decomposition(written: str | Sequence[Any] | Mapping[str, Any] | Qdmr) -> Reading:
    """Read a decomposition in any of the forms that people and language models write.

    A list has a step in each member; members may be objects with a text. Break's own text is left as it is.

    >>> reading = read_decomposition("1. Find all cubes.\\n2. Which of [1] are red?\\n3. How many [2] are there?")
    >>> reading.text
    'return cubes ;return #1 that are red ;return number of #2'
    >>> reading.form, reading.references
    ('lines with 1.', '[1]')
    """
    if isinstance(written, Qdmr):
        return Reading(format_qdmr(written), BREAK.name)
    if isinstance(written, str):
        return _read_text(written)
    if isinstance(written, Mapping | Sequence) and not isinstance(written, bytes | bytearray | memoryview):
        return _read_value(written)
    raise QdmrSyntaxError(Reason("a decomposition must be a string or a list of steps, not {}", type(written).__name__))


def _read_text(text: str) -> Reading:
    if LONGEST_DECOMPOSITION < len(text) <= LONGEST_ANSWER:
        text = (after_thoughts(text) or text).strip()
    if reason := above(LONGEST_DECOMPOSITION, len(text), "characters"):
        raise QdmrSyntaxError(reason)
    if BREAK.shown_by.search(text) and BREAK.split(text):
        return _kept(text, ())
    inside, wrappings = unwrap(text)
    # What is indented as a whole is a list of its own.
    inside = dedent(plain(inside)).strip()
    for form in FORMS:
        if form.shown_by.search(inside) and (steps := form.split(inside)):
            if form.name in _MAY_BE_NO_ANSWER and (missing := no_answer(inside)) is not None:
                return Reading("", NO_ANSWER, wrapped_in=wrappings, doubt=missing)
            return _kept(inside, wrappings) if form is BREAK else _reading(steps, form.name, wrappings, text)
    return Reading(text, FORMS[-1].name, doubt="there is no step in it")


def _read_value(value: Mapping[str, Any] | Sequence[Any]) -> Reading:
    # Everything is counted before any pattern sees it.
    members, characters = _size(value)
    if reason := above(MOST_MEMBERS, members, "members") or above(LONGEST_ANSWER, characters, "characters"):
        raise QdmrSyntaxError(reason)
    steps = steps_of_value(value)
    length = sum(len(step.text) for step in steps)
    if reason := above(MOST_STEPS, len(steps), "steps") or above(LONGEST_DECOMPOSITION, length, "characters"):
        raise QdmrSyntaxError(reason)
    if not steps:
        names = f" (it has {', '.join(map(str, value))})" if isinstance(value, Mapping) and value else ""
        what = "object" if isinstance(value, Mapping) else "list"
        raise QdmrSyntaxError(Reason("there are no steps in this {}{}; give a list of strings", what, names))
    return _reading(steps, _LIST, (), "")


def _size(value: Any) -> tuple[int, int]:
    """How many members a value has, at any depth, and how many characters are in them; counted up to the limits."""
    members = characters = 0
    waiting = [value]
    while waiting and members <= MOST_MEMBERS and characters <= LONGEST_ANSWER:
        each = waiting.pop()
        members += 1
        if isinstance(each, str):
            characters += len(each)
        elif isinstance(each, Mapping):
            waiting += islice(chain(each, each.values()), MOST_MEMBERS)
        elif isinstance(each, Sequence) and not isinstance(each, bytes | bytearray | memoryview):
            waiting += islice(each, MOST_MEMBERS)
    return members, characters


def _kept(text: str, wrappings: tuple[str, ...]) -> Reading:
    references = NATIVE
    if not _HAS_REFERENCE.search(text):
        texts, references = with_references([WrittenStep(part) for part in text.split(";")], UNMISTAKABLE)
        text = ";".join(texts)
    return Reading(without_stops_after_references(text), BREAK.name, references, wrappings)


def _reading(steps: Sequence[WrittenStep], form: str, wrappings: tuple[str, ...], source: str) -> Reading:
    if form in _MAY_HOLD_ALL and len(steps) == 1 and steps[0].text.strip() != source.strip():
        inner = _read_text(steps[0].text)
        doubt = inner.doubt or (_doubt([inner.text], source) if inner.form in _WITHOUT_SIGNS else None)
        return Reading(inner.text, inner.form, inner.references, (*wrappings, form, *inner.wrapped_in), doubt)
    steps = with_names([replace(step, text=plain(step.text)) for step in steps])
    texts, references = with_references(steps)
    texts, silent = with_needs(texts, steps)
    texts, pointing = with_mentions(texts)
    if pointing and references == NATIVE:
        references = IN_WORDS
    doubt = _doubt(texts, source if form in _WITHOUT_SIGNS else "")
    if silent:
        numbers = ", ".join(map(str, silent))
        doubt = f"its steps name none of those that they depend on: references were added to {numbers}"
    text = " ;".join(f"return {phrase}" for phrase in usual_wording(without_sentences(texts)))
    return Reading(text, form, references, wrappings, doubt)


def _doubt(steps: Sequence[str], source: str) -> str | None:
    if len(steps) != 1:
        return None
    if "\n" in source.strip():
        return "it was read as one step, but has several lines"
    if len(steps[0].split()) > _MANY_WORDS:
        return f"it was read as one step of more than {_MANY_WORDS} words"
    if _HAS_REFERENCE.search(steps[0]):
        return "it was read as one step, but refers to others"
    return None
