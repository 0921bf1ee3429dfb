"""How steps name each other: ``#1``, ``[1]``, ``step 1``, ``S1``, and in words.

In words, they say "that country" or "those", use names that the writer gave, or leave it to data beside a step to say
what it needs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from qdecomp.data_structures.reading.lists import NUMBER_WORDS, WrittenStep, consecutive, number_of

NATIVE = "#1"  # the name of Break's own style
IN_WORDS = "those"  # the name of references in words
_WORDS = "|".join(NUMBER_WORDS[1:10])
# Without "a", the pattern that ignores case also takes "fıve" and "ſix".
_NUMBER = rf"(?:\d{{1,3}}|(?a:{_WORDS}))"
_ANY_NUMBER = re.compile(rf"\d+|\b(?a:{_WORDS})\b", re.IGNORECASE)
# "the answer to step 1" is step 1.
_ANSWER_OF = (
    r"(?:the (?:answers?|results?|outputs?) (?:of|from|to|in|for|obtained (?:in|from)|returned by|found in) (?:the )?)?"
)
_STEPS = rf"(?:steps \d{{1,3}}(?:(?:,? (?:and|or) |, ?| ?& ?)\d{{1,3}}\b)+|steps?[ _-]?{_NUMBER})"
_WHAT = r"(?:steps?|answers?|ans|results?|outputs?|questions?|sub[- ]?questions?|[SQA])"
# "[the answer of Q1]", "{{step1.answer}}".
_INSIDE = (
    rf"(?:the )?(?:(?:final )?(?:answers?|results?|outputs?) (?:of|to|from|for|in) )?(?:{_WHAT}[ _-]?)?#?\d{{1,3}}"
    r"(?:(?:\.|_|['’]s )(?:answers?|results?|outputs?))?"
)


class ReferenceStyle(NamedTuple):
    """A way to write references; every number inside what the expression ``form`` matches is one."""

    name: str
    form: str
    all_back: bool = False  # also ordinary text, such as "(1)": counts only if every match names an earlier step


STYLES: tuple[ReferenceStyle, ...] = (
    ReferenceStyle(NATIVE, rf"(?:\b{_WHAT} )?[\[{{<]\#\d+[\]}}>]|\bsteps? \#\d+|\#\{{\d+\}}|\#\d+"),
    ReferenceStyle("@@1@@", r"@@\d{1,3}@@"),
    ReferenceStyle("[1]", rf"(?:\b{_WHAT} )?\[{_INSIDE}\](?:\(\#[^)\s]*\))?"),
    ReferenceStyle("{1}", rf"\$?\{{{{?\s?{_INSIDE}\s?\}}}}?"),
    ReferenceStyle("<1>", rf"<{_INSIDE}>"),
    ReferenceStyle("(answer of 1)", rf"\((?=[a-z]){_INSIDE}\)", all_back=True),
    ReferenceStyle("step 1", rf"\b{_ANSWER_OF}(?<!\w){_STEPS}\b", all_back=True),
    ReferenceStyle("answer 1", r"\b(?:the )?(?:answer|ans|result|output)[ _-]?\d{1,3}\b", all_back=True),
    ReferenceStyle("S1", rf"\b{_ANSWER_OF}(?<!\w)(?:[SQA]|(?:sub[- ]?)?question )_?\d{{1,3}}\b", all_back=True),
    ReferenceStyle("$1", r"\$\d{1,2}\b(?![.,]\d)", all_back=True),
    ReferenceStyle("(1)", r"\(\d{1,2}\)", all_back=True),
)
"""The first style that a decomposition shows is the only one that is read, so that other numbers stay words."""
UNMISTAKABLE = STYLES[:7]
"""What counts as a reference even in Break's own text, if nothing shows that references are written differently."""


def with_references(steps: Sequence[WrittenStep], styles: Sequence[ReferenceStyle] = STYLES) -> tuple[list[str], str]:
    """The texts of steps with references as ``#1``, and the name of the style that they were written in."""
    style = next((style for style in styles if _shows(steps, style)), STYLES[0])
    places = _places(steps, style)
    return [_translate(step.text, style, places) for step in steps], style.name


def _shows(steps: Sequence[WrittenStep], style: ReferenceStyle) -> bool:
    places = enumerate(steps, start=_first_number(steps))
    numbers = [(place, number) for place, step in places for number in _numbers(step.text, style)]
    if style.all_back:
        return bool(numbers) and all(number < place for place, number in numbers)
    return any(number != place and number <= len(steps) for place, number in numbers)


def _numbers(text: str, style: ReferenceStyle) -> list[int]:
    found = re.finditer(style.form, text, re.IGNORECASE)
    return [number_of(number[0]) for match in found for number in _ANY_NUMBER.finditer(match[0])]


def _first_number(steps: Sequence[WrittenStep]) -> int:
    labels = [step.label for step in steps if step.label is not None]
    return 0 if len(labels) == len(steps) and consecutive(labels) and labels[0] == 0 else 1


def _places(steps: Sequence[WrittenStep], style: ReferenceStyle) -> int:
    """What is added to each reference: 1 if steps are counted from 0."""
    if all(step.label is not None for step in steps):
        return 1 - _first_number(steps)
    numbers = [(place, number) for place, step in enumerate(steps) for number in _numbers(step.text, style)]
    from_zero = any(number == 0 for _, number in numbers) and all(number < place for place, number in numbers)
    return int(from_zero)


def _translate(text: str, style: ReferenceStyle, added: int) -> str:
    def references(match: re.Match[str]) -> str:
        numbers = list(_ANY_NUMBER.finditer(match[0]))
        parts = [f"#{number_of(numbers[0][0]) + added}"]
        # "steps 1, 2 and 3" keeps what is between its numbers.
        for left, right in pairwise(numbers):
            between = match[0][left.end() : right.start()].strip().replace("&", "and")
            parts += [between, f"#{number_of(right[0]) + added}"]
        return " ".join(parts)

    return re.sub(style.form, references, text, flags=re.IGNORECASE)


_REFERENCE = re.compile(r"#\d")
_NAMED = re.compile(
    r"(?<![\s,;])[\s,;]*[(\[]?\b(?:call|name|label|denote) (?:it|this|that|these|them|those)(?: set| group| list)?"
    r"(?: as)? [\"'“‘]?(?P<name>[A-Za-z]\w{0,20})[\"'”’]?[)\]]?[.\s]*\Z",
    re.IGNORECASE,
)
_LET = re.compile(r"\A\s*let (?P<name>[A-Za-z]\w{0,20}) (?:be|denote|=) (?:all |the )?", re.IGNORECASE)
_ASSIGNED = re.compile(r"\A\s*(?P<name>[A-Za-z]\w{0,20})\s*:?=\s*(?=[^\s=])")
_TOO_COMMON = frozenset(("a", "an", "the", "it", "is", "of", "in", "to", "as"))
# A question or a command; elsewhere, "they" are somebody in the sentence itself.
_SENTENCE = re.compile(
    r"\?\s*\Z|\A\s*(?:Count|Find|Get|List|Filter|Select|Keep|Identify|Determine|Retrieve|Look up|Sort|Show|Give"
    r"|Calculate|Compute|Check|Among|From|Of|Who|What|Which|Where|When|How|Whose)\b"
)
_BEFORE = (
    r"(?:of|in|for|by|from|with|to|at|on|about|than|among|is|are|was|were|did|does|do|has|have|had|the|count|find|sort"
    r"|which|between|behind|near)"
)
_NO_NOUN = r"(?:is|are|was|were|be|has|have|had|does|did|do|can|could|will|would|that|who|which|with)\b"
_MENTION = re.compile(
    rf"(?<!\S)(?:(?P<before>{_BEFORE}) )?"
    rf"(?P<mention>(?:that|this|these|those|the same) (?!{_NO_NOUN})[a-z]+"
    r"|(?:the )?(?:above|previous|last) (?:answers?|results?|ones?|steps?)|the (?:answers?|results?)|those|these|them"
    r"|they|it|he|she|him)(?=\s|[?.,!]|\Z)",
    re.IGNORECASE,
)
_ALONE = frozenset(("those", "these", "them", "they", "it", "he", "she", "him"))
_RELATIVE = re.compile(r"\s(?:that|who|which|with)\b")
_ITS = re.compile(
    r"(?:(?<=\bis )|(?<=\bof )|(?<=\bin )|(?<=\bare )|(?<=\bwas ))(?:its|their|his|her) (?=\w)", re.IGNORECASE
)
# What narrows another step, rather than naming what it asks of it.
_PART = re.compile(
    r"\A(?:(?:those|(?:the )?ones) )?"
    r"(?=(?:that|which|who|whose|where|with|without|from|in|on|at|by|near|behind|not)\b)",
    re.IGNORECASE,
)


def with_names(steps: Sequence[WrittenStep]) -> list[WrittenStep]:
    """The steps without the names that their writer gives them, "(call this D)", and with references for them."""
    names: dict[str, int] = {}
    found: list[WrittenStep] = []
    for place, step in enumerate(steps, start=1):
        text = step.text
        match = next((match for pattern in (_NAMED, _LET, _ASSIGNED) if (match := pattern.search(text))), None)
        if match is not None:
            text = text[: match.start()] + text[match.end() :]
        for name, number in names.items():
            text = re.sub(rf"(?<![\w#]){re.escape(name)}(?!\w)", f"#{number}", text)
        if match is not None and text.strip() and match["name"] not in _TOO_COMMON:
            names[match["name"]] = place
        found.append(replace(step, text=text if text.strip() else step.text))
    used = any(_REFERENCE.search(step.text) for step in found)
    return found if names and used else list(steps)


def with_mentions(texts: Sequence[str]) -> tuple[list[str], bool]:
    """Sentences without a reference refer to the step before with "that country" or "those"; whether one does."""
    found = list(texts)
    for place, text in enumerate(texts[1:], start=1):
        if not _REFERENCE.search(text) and _SENTENCE.search(text):
            found[place] = _pointing_at(text, place)
    return found, found != list(texts)


def _pointing_at(text: str, place: int) -> str:
    its = _ITS.sub(f"#{place} 's ", text, count=1)
    if its != text:
        return its
    for match in _MENTION.finditer(text):
        alone = match["mention"].lower() in _ALONE
        if (match["before"] or match.start() == 0 or alone) and not (alone and _RELATIVE.match(text, match.end())):
            before = f"{match['before']} " if match["before"] else ""
            return f"{text[: match.start()]}{before}#{place}{text[match.end() :]}"
    return text


def with_needs(texts: Sequence[str], steps: Sequence[WrittenStep]) -> tuple[list[str], list[int]]:
    """The texts with the references that data gives beside them, and the steps that say nothing about theirs."""
    found: list[str] = []
    silent: list[int] = []
    for number, (text, step) in enumerate(zip(texts, steps, strict=True), start=1):
        if step.needs and not _REFERENCE.search(text):
            pointed = _pointing_at(text, step.needs[-1]) if len(step.needs) == 1 else text
            if pointed == text:
                silent.append(number)
                pointed = _with_references(text, step.needs)
            text = pointed
        found.append(text)
    return found, silent


def _with_references(text: str, needs: Sequence[int]) -> str:
    references = " , ".join(f"#{number}" for number in needs)
    bare = text.rstrip(" .?!")
    ending = text[len(bare) :].strip()
    if "?" not in ending and _PART.match(bare):
        return f"{references} {_PART.sub('', bare, count=1)}{ending}"
    return f"{bare}{'' if bare.lower().endswith(' of') else ' of'} {references}{ending}"
