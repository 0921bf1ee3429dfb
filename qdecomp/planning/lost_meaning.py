"""What a plan has lost of its question's meaning: words, limits, negation, or what it asks for.

The checks of :mod:`qdecomp.planning.checks` that compare a plan with its question. Each was measured on decompositions
by people, on which it must be silent: RESULTS.md has how often it is not.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from qdecomp.data_structures.lexicon import skipped_words, stop_words
from qdecomp.data_structures.lexicon.inflections import variants
from qdecomp.data_structures.qdmr import is_reference, reference_number

_BEGINNING = 4
"""Words that share this many letters at their beginning count as forms of one word."""
_SHORT = 5
_SHORTEST_CONTENT = 3
_TYPO_LENGTH, _TYPO_SIMILARITY = 5, 0.85
_HOW_MUCH_MORE = re.compile(r"\bhow (?:much|many) (?:more|less|fewer|\w+er)\b.* than \b")
_SIGNS = frozenset(".?!:;")


@dataclass(frozen=True, slots=True)
class PlanWords:
    """The words of a question and of its steps, in lower case."""

    question: tuple[str, ...]
    steps: tuple[tuple[str, ...], ...]

    @property
    def said(self) -> frozenset[str]:
        """The words of all steps; of those that are joined by signs, each part."""
        words = (word for step in self.steps for word in step if not is_reference(word))
        return frozenset(part for word in words for part in (word, *re.split(r"\W+", word)) if part)

    @property
    def text(self) -> str:
        """The question with one space around each word."""
        return f" {' '.join(self.question)} "


Finding = tuple[int, str]
"""A step, 0 for the whole plan, and what is odd about it."""


@cache
def _words() -> Mapping[str, Any]:
    found: dict[str, Any] = json.loads(files(__package__).joinpath("lost_meaning.json").read_text(encoding="utf-8"))
    return {
        name: frozenset(value) if isinstance(value, list) and name != "numbers" else value
        for name, value in found.items()
    }


@cache
def _often_left_out() -> frozenset[str]:
    text = files(__package__).joinpath("left_out_words.txt").read_text(encoding="utf-8")
    listed = (word for line in text.splitlines() if not line.startswith("#") for word in line.split())
    return stop_words() | skipped_words() | frozenset(listed)


def _is_content(word: str) -> bool:
    return word[:1].isalpha() and len(word) >= _SHORTEST_CONTENT and word not in _often_left_out()


def _is_said(word: str, said: frozenset[str]) -> bool:
    """Whether a step has the word in some form."""
    if not said.isdisjoint((word, word.rstrip("s"), f"{word}s")):
        return True
    if len(word) >= _BEGINNING:
        # "woman" and "women" share less.
        shared = _BEGINNING - 1 if len(word) <= _SHORT else _BEGINNING
        if any(other[:shared] == word[:shared] and len(other) >= shared for other in said):
            return True
    return not said.isdisjoint(variants(word))


def _parts(words: Sequence[str], signs: frozenset[str]) -> list[list[int]]:
    """The places of the words between signs."""
    parts: list[list[int]] = [[]]
    for place, word in enumerate(words):
        if word in signs:
            parts.append([])
        else:
            parts[-1].append(place)
    return parts


def _lost_word(plan: PlanWords) -> Iterator[Finding]:
    said, words = plan.said, plan.question
    parts = [[place for place in part if _is_content(words[place])] for part in _parts(words, _SIGNS)]
    parts = [part for part in parts if part]
    lost: dict[str, None] = {}
    for part in parts:
        present = [_is_said(words[place], said) for place in part]
        # A sentence of which no word is said is talk around the question.
        if len(parts) == 1 or any(present):
            for place, is_present in zip(part, present, strict=True):
                if not is_present and not _is_class(words, place) and not _is_misspelt(words[place], said):
                    lost[words[place]] = None
    if lost:
        yield 0, f"the question's {', '.join(map(repr, lost))} {'is' if len(lost) == 1 else 'are'} in no step"


def _is_class(words: Sequence[str], place: int) -> bool:
    """Whether a word only says what the compared things are: "Which river is longer, …", "of the two rivers"."""
    before = words[max(0, place - 3) : place]
    return not {":", "or"}.isdisjoint(words) and ("two" in before or not _words()["asking"].isdisjoint(before))


def _is_misspelt(word: str, said: frozenset[str]) -> bool:
    """Whether it looks like a word that may be left out, or that a step has."""
    known = [*said, *(each for each in _often_left_out() if len(each) >= _BEGINNING)]
    return len(word) >= _TYPO_LENGTH and bool(get_close_matches(word, known, 1, _TYPO_SIMILARITY))


def _lost_negation(plan: PlanWords) -> Iterator[Finding]:
    said, words = plan.said, plan.question
    if not said.isdisjoint(_words()["negated"]):
        return
    if any(word.startswith(tuple(_words()["negating_beginnings"])) and len(word) > 2 * 3 for word in said):
        return
    for part in _parts(words, _SIGNS | {","}):
        for place in part:
            word, phrase = words[place], " ".join(words[place : place + 2])
            if word not in _words()["negations"] and phrase not in ("no longer", "other than"):
                continue
            is_limit = word == "not" and _is_comparative(words[place + 1 : place + 2])
            if is_limit or phrase == "not only" or words[place - 1 : place] == ("or",):
                continue
            if any(_is_content(words[other]) and _is_said(words[other], said) for other in part):
                yield 0, f"the question's {words[place]!r} is in no step, and nothing is taken away"
                return


def _is_comparative(words: Sequence[str]) -> bool:
    return any(word in ("more", "less") or word.endswith("er") for word in words)


def _turned_duty(plan: PlanWords) -> Iterator[Finding]:
    for first, second in pairwise(plan.question):
        if first in _words()["duties"] and second in ("not", "n't", "n’t"):
            for number, step in enumerate(plan.steps, start=1):
                if first in step and "not" not in step:
                    yield number, f"{first!r}, where the question has {first + ' not'!r}"


def _negated_twice(plan: PlanWords) -> Iterator[Finding]:
    if sum(word in _words()["negations"] or word == "no" for word in plan.question) != 1:
        return
    for number, step in enumerate(plan.steps, start=1):
        if not {"not", "no", "never", "without", "n't"}.isdisjoint(step):
            for later, other in enumerate(plan.steps[number:], start=number + 1):
                if "besides" in other and f"#{number}" in other[other.index("besides") :]:
                    yield later, f"it takes away what step {number} negates already"


def _lost_superlative(plan: PlanWords) -> Iterator[Finding]:
    text, said = plan.text, plan.said
    for phrase in _words()["not_superlative"]:
        text = text.replace(f" {phrase} ", "  ")
    asked = [word for word in text.split() if word in _words()["superlatives"]]
    if asked and said.isdisjoint(_words()["superlative"]) and not any(word.endswith("est") for word in said):
        yield 0, f"the question's {asked[0]!r} is in no step"


def _lost_limit(plan: PlanWords) -> Iterator[Finding]:
    """A small number, as a word or a digit; an equal one or its neighbour will do: "at least 3" is "more than 2"."""
    said = {_small_number(word) for word in plan.said}
    for before, word in pairwise(plan.question):
        number = _small_number(word)
        if before not in _words()["before_limits"] or number is None or number <= 1:
            continue
        if said.isdisjoint((number - 1, number, number + 1)):
            yield 0, f"the question's limit {word!r} is in no step"


def _small_number(word: str) -> int | None:
    if word in _words()["numbers"]:
        found: int = _words()["numbers"].index(word)
        return found
    return int(word) if word.isascii() and word.isdigit() and len(word) == 1 else None


def _lost_share(plan: PlanWords) -> Iterator[Finding]:
    asked = [word for word in plan.question if word in _words()["shares"]]
    if asked and plan.said.isdisjoint(_words()["share"]):
        yield 0, f"the question asks for a {asked[0]}, and no step divides"
    for number, step in enumerate(plan.steps, start=1):
        if step[-1:] == ("half",) and "than" in step and not any("division" in other for other in plan.steps):
            yield number, "a number is compared with half, without a division"


def _lost_average(plan: PlanWords) -> Iterator[Finding]:
    for word, forms in _words()["averages"].items():
        if word in plan.question and plan.said.isdisjoint(forms):
            yield 0, f"the question's {word!r} is in no step"


def _lost_group(plan: PlanWords) -> Iterator[Finding]:
    asked = [phrase for phrase in _words()["groupings"] if f" {phrase} " in plan.text]
    asks = plan.question[:2] == ("for", "each") or any(phrase != "for each" for phrase in asked)
    if asks and plan.said.isdisjoint(_words()["grouped"]):
        yield 0, "the question asks for groups, and no step has 'for each'"


def _lost_difference(plan: PlanWords) -> Iterator[Finding]:
    if _HOW_MUCH_MORE.search(plan.text) and plan.said.isdisjoint(_words()["difference"]):
        yield 0, "the question asks for a difference, and no step has one"


def _lost_condition(plan: PlanWords) -> Iterator[Finding]:
    for place, (before, word) in enumerate(pairwise(plan.question), start=1):
        after = plan.question[place + 1 : place + 2]
        is_condition = word == "if" and place > _SHORTEST_CONTENT and before not in _words()["before_if"]
        if is_condition and _words()["after_if"].isdisjoint(after) and "if" not in plan.said:
            yield 0, "the question's condition ('if') is in no step"


def _other_answer(plan: PlanWords) -> Iterator[Finding]:
    """The last step gives something else than the question's first words ask for."""
    words, number, last = plan.question, len(plan.steps), plan.steps[-1] if plan.steps else ()
    if not words or not last or all(is_reference(word) or word == "," for word in last):
        return
    if words[0] in _words()["yes_or_no"]:
        # "Is there a flight?" may be answered by the flights.
        asks_for_more = _SIGNS | {"any", "or", "tell", "there", "you"} | _words()["asking"]
        answers = {"if", "whether", "any", "true", "false", "which"} | _words()["yes_or_no"]
        if asks_for_more.isdisjoint(words[:-1]) and answers.isdisjoint(last[:2]):
            yield number, "the question asks for yes or no, and this is something else"
    elif words[0] in _words()["asking"] and last[0] == "if":
        yield number, f"the question asks {words[0]!r}, and this is yes or no"
    elif words[:2] == ("how", "many") and last[0] != "how" and _words()["number"].isdisjoint(last):
        yield number, "the question asks 'how many', and this is no number"
    elif words[0] in ("which", "what") and words[1:2] and words[1] not in _words()["yes_or_no"]:
        yield from _value_instead_of_thing(plan, words[1])


def _value_instead_of_thing(plan: PlanWords, noun: str) -> Iterator[Finding]:
    """The question asks for a thing ("which fund"), and the last step gives the highest or lowest of its values."""
    last = plan.steps[-1]
    references = [number for number in map(reference_number, last) if number is not None]
    words = {word for word in last if not is_reference(word)}
    if len(references) == 1 and 0 < references[0] < len(plan.steps) and {"of"} < words <= _words()["values"]:
        value, others = plan.steps[references[0] - 1], plan.steps[: references[0] - 1]
        if not _is_said(noun, frozenset(value)) and any(_is_said(noun, frozenset(other)) for other in others):
            yield len(plan.steps), f"the question asks for {noun!r}, and this is a value"


def _different_kinds(plan: PlanWords) -> Iterator[Finding]:
    """A comparison whose sides have nothing in common, or of a number with something else."""
    for number, sides in _comparisons(plan):
        (first, first_counts), (second, second_counts) = (_compared(plan, side) for side in sides)
        steps = [plan.steps[place - 1] for place in (first, second)]
        if first == second or not all(any(map(is_reference, step)) and not is_reference(step[0]) for step in steps):
            continue
        left, right = (_kind(step) for step in steps)
        if first_counts and second_counts:
            continue
        if first_counts != second_counts:
            if {"number", "many", "much", "often"}.isdisjoint(steps[first_counts]):
                yield number, "it compares a number with something else"
        elif left and right and left.isdisjoint(right):
            yield number, f"it compares things of different kinds: {' '.join(steps[0])!r} and {' '.join(steps[1])!r}"


def _comparisons(plan: PlanWords) -> Iterator[tuple[int, list[int]]]:
    for number, step in enumerate(plan.steps, start=1):
        references = [each for each in map(reference_number, step) if each is not None]
        compares = not _words()["comparing"].isdisjoint(step) and (step[:1] in (("which",), ("if",)) or "where" in step)
        expected = 3 if "where" in step else 2
        is_known = len(references) == expected and all(0 < each < number for each in references)
        if is_known and (compares or step[:1] == ("difference",)):
            yield number, references[-2:]


def _compared(plan: PlanWords, number: int) -> tuple[int, bool]:
    """The step whose values are compared, below those that only aggregate, and whether they are counted."""
    counts = False
    while True:
        step = plan.steps[number - 1]
        references = [each for each in map(reference_number, step) if each is not None]
        words = {word for word in step if not is_reference(word)}
        if not words or not references or not words <= _words()["aggregating"] or not 0 < references[0] < number:
            return number, counts
        counts, number = counts or "number" in words or "count" in words, references[0]


def _kind(step: Sequence[str]) -> frozenset[str]:
    words = (word for word in step if not is_reference(word) and word not in _words()["no_kind"])
    return frozenset(word[:_BEGINNING] for word in words)


def _garbled_clause(plan: PlanWords) -> Iterator[Finding]:
    for number, step in enumerate(plan.steps, start=1):
        for first, second, third in zip(step, step[1:], step[2:], strict=False):
            if first == "that" and second in _words()["clause_verbs"] and third in _words()["clause_subjects"]:
                yield number, f"{' '.join((first, second, third))!r} is not a clause"


def _repeated_phrase(plan: PlanWords) -> Iterator[Finding]:
    asked = Counter(pairwise(plan.question))
    for number, step in enumerate(plan.steps, start=1):
        for pair, count in Counter(pairwise(step)).items():
            is_phrase = all(map(str.isalpha, pair)) and not stop_words().issuperset(pair)
            if is_phrase and count > max(1, asked[pair]):
                yield number, f"{' '.join(pair)!r} twice"
                break


MEANING_CHECKS: Mapping[str, Callable[[PlanWords], Iterator[Finding]]] = MappingProxyType(
    {
        "lost word": _lost_word,
        "lost negation": _lost_negation,
        "turned duty": _turned_duty,
        "negated twice": _negated_twice,
        "lost superlative": _lost_superlative,
        "lost limit": _lost_limit,
        "lost share": _lost_share,
        "lost average": _lost_average,
        "lost group": _lost_group,
        "lost difference": _lost_difference,
        "lost condition": _lost_condition,
        "other answer": _other_answer,
        "different kinds": _different_kinds,
        "garbled clause": _garbled_clause,
        "repeated phrase": _repeated_phrase,
    }
)
"""The checks by name."""
