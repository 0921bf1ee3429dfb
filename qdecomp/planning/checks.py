"""What is obviously wrong with a plan, and what is not a question: a table of checks, with words from a data file.

A warning does not mean that a plan is wrong, but that a person would look at it twice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from qdecomp.data_structures.lexicon import stop_words
from qdecomp.data_structures.limits import LONGEST_QUESTION
from qdecomp.data_structures.qdmr import Qdmr, is_reference, reference_number
from qdecomp.data_structures.tokenization import tokenize
from qdecomp.planning.lost_meaning import MEANING_CHECKS, PlanWords

_LETTERS = re.compile(r"[^\W\d_]")
_LATIN = re.compile(r"[a-zA-ZÀ-ɏ]")
_ARTICLES = frozenset({"a", "an", "the"})
# Words that share this many letters at their beginning may be forms of one word: "woman" and "women".
_SAME_BEGINNING = 3
_NEGATIONS = frozenset({"not", "n't", "no", "never", "without"})
# The share of letters from other alphabets from which a question counts as being in another language.
_FOREIGN_LETTERS = 0.3
_FOREIGN_WORDS = 2


@cache
def _words() -> Mapping[str, Any]:
    text = files(__package__).joinpath("checks.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    sets = ("asking", "comparing", "downward", "either_way", "ends_of_sides", "limits", "sorting", "vague_sides")
    return found | {name: frozenset(found[name]) for name in sets}


def _unfinished_comparison(plan: PlanWords) -> Iterator[tuple[int, str]]:
    for number, step in enumerate(plan.steps, start=1):
        text = " ".join(step)
        for ending in _words()["unfinished"]:
            if text == ending or text.endswith(f" {ending}"):
                yield number, f"a comparison with nothing: it ends in {ending!r}"
                break


def _each_of_nothing(plan: PlanWords) -> Iterator[tuple[int, str]]:
    for number, step in enumerate(plan.steps, start=1):
        if step[-2:] == ("for", "each") or step[-1:] == ("each",):
            yield number, "'for each' of nothing"


def _repeated_word(plan: PlanWords) -> Iterator[tuple[int, str]]:
    repeated = {first for first, second in pairwise(plan.question) if first == second}
    for number, step in enumerate(plan.steps, start=1):
        for first, second in pairwise(step):
            if first == second and first not in repeated and (first.isalpha() or is_reference(first)):
                yield number, f"{first!r} twice in a row"
                break


def _opposite_comparison(plan: PlanWords) -> Iterator[tuple[int, str]]:
    if not _NEGATIONS.isdisjoint(plan.question):
        return
    asked = _directions(plan.question)
    # In a step these words may be places.
    for word, direction in _words()["places"].items():
        if word in plan.question:
            asked.setdefault(direction, {})[word] = None
    excused = set(asked)
    if not _words()["downward"].isdisjoint(plan.question):
        excused.add("down")
    # The oldest has the highest age or the lowest year, and "max 5" means 5 or less.
    if not _words()["either_way"].isdisjoint(plan.question):
        excused |= {"up", "down"}
    for number, step in enumerate(plan.steps, start=1):
        said = _directions(step)
        for direction, other in (("up", "down"), ("down", "up")):
            if direction in said and other in asked and direction not in excused:
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


def _resource_without_reason(plan: PlanWords) -> Iterator[tuple[int, str]]:
    for number, step in enumerate(plan.steps, start=1):
        for word, reasons in _words()["resources"].items():
            if word in step and not any(
                _is_form(asked, reason) for asked in plan.question for reason in (word, *reasons)
            ):
                yield number, f"{word!r}, for which the question gives no reason"


def _is_form(word: str, of: str) -> bool:
    """Whether a word is this one or its regular plural."""
    return word == of or word in (f"{of}s", f"{of}es") or of in (f"{word}s", f"{word}es")


def _unused_step(plan: PlanWords) -> Iterator[tuple[int, str]]:
    used = {word for step in plan.steps for word in step}
    for number in range(1, len(plan.steps)):
        if f"#{number}" not in used:
            yield number, "no other step uses it"


def _repeated_step(plan: PlanWords) -> Iterator[tuple[int, str]]:
    """A step that equals an earlier one, or that repeats what the step it refers to did."""
    seen: dict[tuple[str, ...], int] = {}
    for number, step in enumerate(plan.steps, start=1):
        words = _without_articles(step)
        pattern = tuple("#" if is_reference(word) else word for word in words)
        references = _references(words)
        if words in seen:
            yield number, f"it repeats step {seen[words]}"
        elif len(references) == 1 and 0 < references[0] < number:
            below = _without_articles(plan.steps[references[0] - 1])
            if len(_references(below)) == 1 and pattern == tuple("#" if is_reference(word) else word for word in below):
                yield number, f"it does with step {references[0]} what that one did already"
        seen.setdefault(words, number)


def _without_articles(step: Sequence[str]) -> tuple[str, ...]:
    return tuple(word for word in step if word not in _ARTICLES)


def _references(words: Sequence[str]) -> list[int]:
    return [number for number in map(reference_number, words) if number is not None]


def _one_side_twice(plan: PlanWords) -> Iterator[tuple[int, str]]:
    """A comparison, a sum or a group of one thing with itself; only sorting by itself is fine."""
    for number, step in enumerate(plan.steps, start=1):
        references = _references(step)
        if len(references) > 1 and len(set(references)) == 1 and _words()["sorting"].isdisjoint(step):
            yield number, f"#{references[0]} with itself"


def _than_without_comparison(plan: PlanWords) -> Iterator[tuple[int, str]]:
    compares = {*_words()["up"], *_words()["down"], *_words()["comparing"]}
    for number, step in enumerate(plan.steps, start=1):
        before = step[: step.index("than")] if "than" in step else ()
        if before and not any(word in compares or word.endswith("er") for word in before):
            yield number, "'than' without a word that compares"


def _invented_limit(plan: PlanWords) -> Iterator[tuple[int, str]]:
    """The question compares with something, and the plan with one or zero, which the question does not mention."""
    if "than" in plan.question:
        for number, step in enumerate(plan.steps, start=1):
            for first, second in pairwise(step):
                if first == "than" and second in _words()["limits"] and second not in plan.question:
                    yield number, f"a comparison with {second!r}, of which the question says nothing"


def _lost_side(plan: PlanWords) -> Iterator[tuple[int, str]]:
    """What the question compares with is in no step, in any form: words that begin alike count as present."""
    said = {word[:_SAME_BEGINNING] for step in plan.steps for word in step}
    for place, word in enumerate(plan.question):
        if word == "than":
            side = list(_second_side(plan.question[place + 1 :]))
            # "the tallest" may be a height in the steps.
            if not side or not {*_words()["up"], *_words()["down"]}.isdisjoint(side):
                continue
            if said.isdisjoint(each[:_SAME_BEGINNING] for each in side):
                yield 0, f"what the question compares with is in no step: {' '.join(side)!r}"


def _second_side(words: Sequence[str]) -> Iterator[str]:
    """The content words that follow 'than', up to the end of the phrase."""
    found = False
    for word in words:
        if found and (word in _words()["ends_of_sides"] or not word.isalnum()):
            return
        if word.isalnum() and word not in stop_words() and word not in _words()["vague_sides"]:
            found = True
            yield word


def _lost_number(plan: PlanWords) -> Iterator[tuple[int, str]]:
    said = " ".join(word for step in plan.steps for word in step)
    for word in dict.fromkeys(plan.question):
        if word.isdigit() and len(word) > 1 and word not in said:
            yield 0, f"the question's number {word} is in no step"


def _half_an_answer(plan: PlanWords) -> Iterator[tuple[int, str]]:
    """Two questions in one, whose answers the last step does not combine."""
    asks = [pair for pair in pairwise(plan.question[1:]) if pair[0] == "and" and pair[1] in _words()["asking"]]
    if asks and plan.steps and len(set(_references(plan.steps[-1]))) < 2:
        yield len(plan.steps), f"the question asks twice ('and {asks[0][1]}'), and this is one answer"


PLAN_CHECKS: Mapping[str, Callable[[PlanWords], Iterator[tuple[int, str]]]] = MappingProxyType(
    {
        "unfinished comparison": _unfinished_comparison,
        "each of nothing": _each_of_nothing,
        "repeated word": _repeated_word,
        "opposite comparison": _opposite_comparison,
        "resource without reason": _resource_without_reason,
        "unused step": _unused_step,
        "repeated step": _repeated_step,
        "one side twice": _one_side_twice,
        "than without comparison": _than_without_comparison,
        "invented limit": _invented_limit,
        "lost side": _lost_side,
        "lost number": _lost_number,
        "half an answer": _half_an_answer,
        **MEANING_CHECKS,
    }
)
"""The checks by name; each gives the numbers of odd steps and what is odd about them, 0 for the plan as a whole."""


def plan_warnings(question: str, qdmr: Qdmr) -> tuple[str, ...]:
    """What is odd about a plan: about all of it, then step by step.

    >>> from qdecomp.data_structures.qdmr import parse_qdmr
    >>> plan = parse_qdmr("return firms ;return staff of #1 that is more than")
    >>> plan_warnings("Which firms have more staff?", plan)
    ("step 2: a comparison with nothing: it ends in 'than'",)
    """
    plan = _plan_of(question, qdmr)
    found = [pair for check in PLAN_CHECKS.values() for pair in check(plan)]
    found.sort(key=lambda pair: pair[0])
    return tuple(f"step {number}: {message}" if number else message for number, message in found)


def failed_checks(question: str, qdmr: Qdmr) -> tuple[str, ...]:
    """The names of the checks that find something odd about a plan."""
    plan = _plan_of(question, qdmr)
    return tuple(name for name, check in PLAN_CHECKS.items() if next(check(plan), None) is not None)


def _plan_of(question: str, qdmr: Qdmr) -> PlanWords:
    words = tuple(word.lower() for word in tokenize(question))
    return PlanWords(words, tuple(tuple(token.lower() for token in step.tokens) for step in qdmr.steps))


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
