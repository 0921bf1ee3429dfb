"""What is obviously wrong with a plan, and what is not a question: a table of checks, with words from a data file.

A warning does not mean that a plan is wrong, but that a person would look at it twice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from ..limits import LONGEST_QUESTION
from ..qdmr import Qdmr, is_reference
from ..tokenization import tokenize
from . import stop_words

__all__ = ["PLAN_CHECKS", "not_a_question", "plan_warnings"]

_LETTERS = re.compile(r"[^\W\d_]")
_LATIN = re.compile(r"[a-zA-ZÀ-ɏ]")
_NEGATIONS = frozenset({"not", "n't", "no", "never", "without"})
# The share of letters from other alphabets from which a question counts as being in another language.
_FOREIGN_LETTERS = 0.3
_FOREIGN_WORDS = 2


@dataclass(frozen=True, slots=True)
class _Plan:
    """The words of a question and of its steps, in lower case."""

    question: tuple[str, ...]
    steps: tuple[tuple[str, ...], ...]


@cache
def _words() -> Mapping[str, Any]:
    text = files(__package__).joinpath("plan_checks.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def _unfinished_comparison(plan: _Plan) -> Iterator[tuple[int, str]]:
    for number, step in enumerate(plan.steps, start=1):
        text = " ".join(step)
        for ending in _words()["unfinished"]:
            if text == ending or text.endswith(f" {ending}"):
                yield number, f"a comparison with nothing: it ends in {ending!r}"
                break


def _each_of_nothing(plan: _Plan) -> Iterator[tuple[int, str]]:
    for number, step in enumerate(plan.steps, start=1):
        if step[-2:] == ("for", "each") or step[-1:] == ("each",):
            yield number, "'for each' of nothing"


def _repeated_word(plan: _Plan) -> Iterator[tuple[int, str]]:
    repeated = {first for first, second in pairwise(plan.question) if first == second}
    for number, step in enumerate(plan.steps, start=1):
        for first, second in pairwise(step):
            if first == second and first not in repeated and (first.isalpha() or is_reference(first)):
                yield number, f"{first!r} twice in a row"
                break


def _opposite_comparison(plan: _Plan) -> Iterator[tuple[int, str]]:
    if not _NEGATIONS.isdisjoint(plan.question):
        return
    asked = _directions(plan.question)
    # In a step these words may be places; in a question they justify either comparison.
    for word, direction in _words()["places"].items():
        if word in plan.question:
            asked.setdefault(direction, {})[word] = None
    for number, step in enumerate(plan.steps, start=1):
        said = _directions(step)
        for direction, other in (("up", "down"), ("down", "up")):
            if direction in said and other in asked and direction not in asked:
                word = next(iter(said[direction]))
                yield number, f"{word!r} is the opposite of the question's {next(iter(asked[other]))!r}"


def _directions(words: Sequence[str]) -> dict[str, dict[str, None]]:
    """The words that compare, by direction; 'at least' is one expression and points up."""
    text = f" {' '.join(words)} "
    found: dict[str, dict[str, None]] = {}
    for phrase, direction in _words()["turned"].items():
        if f" {phrase} " in text:
            text = text.replace(f" {phrase} ", " ")
            if direction:
                found.setdefault(direction, {})[phrase] = None
    for direction in ("up", "down"):
        known = _words()[direction]
        for word in text.split():
            if word in known:
                found.setdefault(direction, {})[word] = None
    return found


def _resource_without_reason(plan: _Plan) -> Iterator[tuple[int, str]]:
    for number, step in enumerate(plan.steps, start=1):
        for word, reasons in _words()["resources"].items():
            if word in step and not any(
                _is_form(asked, reason) for asked in plan.question for reason in (word, *reasons)
            ):
                yield number, f"{word!r}, for which the question gives no reason"


def _is_form(word: str, of: str) -> bool:
    """Whether a word is this one or its regular plural."""
    return word == of or word in (f"{of}s", f"{of}es") or of in (f"{word}s", f"{word}es")


def _unused_step(plan: _Plan) -> Iterator[tuple[int, str]]:
    used = {word for step in plan.steps for word in step}
    for number in range(1, len(plan.steps)):
        if f"#{number}" not in used:
            yield number, "no other step uses it"


PLAN_CHECKS: Mapping[str, Callable[[_Plan], Iterator[tuple[int, str]]]] = MappingProxyType(
    {
        "unfinished comparison": _unfinished_comparison,
        "each of nothing": _each_of_nothing,
        "repeated word": _repeated_word,
        "opposite comparison": _opposite_comparison,
        "resource without reason": _resource_without_reason,
        "unused step": _unused_step,
    }
)
"""The checks by name; each gives the numbers of odd steps and what is odd about them."""


def plan_warnings(question: str, qdmr: Qdmr) -> tuple[str, ...]:
    """What is odd about the steps of a plan, step by step.

    >>> from qdecomp.data_structures.qdmr import parse_qdmr
    >>> plan = parse_qdmr("return firms ;return #1 that is more than")
    >>> plan_warnings("Which firms have more staff than Google?", plan)
    ("step 2: a comparison with nothing: it ends in 'than'",)
    """
    words = tuple(word.lower() for word in tokenize(question))
    plan = _Plan(words, tuple(tuple(token.lower() for token in step.tokens) for step in qdmr.steps))
    found = [pair for check in PLAN_CHECKS.values() for pair in check(plan)]
    return tuple(f"step {number}: {message}" for number, message in sorted(found, key=lambda pair: pair[0]))


def not_a_question(question: str) -> str | None:
    """Why a text is not a question that can be split into steps; None if it may be one.

    >>> not_a_question("hello")
    'not a question: a single word'
    >>> not_a_question("¿Cuántos ríos hay en Texas?")
    'not a question in English: it looks like Spanish'
    """
    if len(question) > LONGEST_QUESTION:
        # There is no need to check it: a parser refuses it because of its length.
        return None
    words = [word.lower() for word in tokenize(question) if any(character.isalnum() for character in word)]
    if not words:
        return None
    if len(words) == 1:
        return "not a question: a single word"
    if all(word in _words()["greetings"] for word in words):
        return "not a question: only words of greeting"
    letters = _LETTERS.findall(question)
    if letters and sum(not _LATIN.match(letter) for letter in letters) > _FOREIGN_LETTERS * len(letters):
        return "not a question in English: most of its letters are of another alphabet"
    english = sum(word in stop_words() or word in _words()["greetings"] for word in words)
    for language, known in _words()["foreign"].items():
        foreign = sum(word in known for word in words)
        if foreign >= _FOREIGN_WORDS and foreign > english:
            return f"not a question in English: it looks like {language}"
    return None
