"""How steps name each other: ``#1``, ``[1]``, ``step 1``, ``S1``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from qdecomp.data_structures.reading.values import WrittenStep, consecutive, small_number

NATIVE = "#1"
"""The name of Break's own style."""
_NUMBER_WORDS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9}
# Without "a", the pattern that ignores case also takes "fıve" and "ſix".
_NUMBER = rf"(?:\d{{1,3}}|(?a:{'|'.join(_NUMBER_WORDS)}))"
_ANY_NUMBER = re.compile(rf"\d+|\b(?a:{'|'.join(_NUMBER_WORDS)})\b", re.IGNORECASE)
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


@dataclass(frozen=True, slots=True)
class ReferenceStyle:
    """A way to write references; every number inside what ``form`` matches is one.

    A style that is also ordinary text, such as ``(1)``, counts only if ``all_back`` holds: every match names an earlier
    step.
    """

    name: str
    form: str
    all_back: bool = False
    pattern: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "pattern", re.compile(self.form, re.IGNORECASE))


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
    """The texts of steps with references as ``#1``, and the name of the style that they were written in.

    >>> with_references([WrittenStep("cubes"), WrittenStep("those of step 1 that are red")])
    (['cubes', 'those of #1 that are red'], 'step 1')
    """
    style = next((style for style in styles if _shows(steps, style)), STYLES[0])
    places = _places(steps, style)
    return [_translate(step.text, style, places) for step in steps], style.name


def _shows(steps: Sequence[WrittenStep], style: ReferenceStyle) -> bool:
    numbers = [
        (place, number)
        for place, step in enumerate(steps, start=_first_number(steps))
        for number in _numbers(step.text, style)
    ]
    if style.all_back:
        return bool(numbers) and all(number < place for place, number in numbers)
    return any(number != place and number <= len(steps) for place, number in numbers)


def _numbers(text: str, style: ReferenceStyle) -> list[int]:
    return [_value(number[0]) for match in style.pattern.finditer(text) for number in _ANY_NUMBER.finditer(match[0])]


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
        if len(numbers) == 1:
            return f"#{_value(numbers[0][0]) + added}"
        # "steps 1, 2 and 3" keeps what is between its numbers.
        between = [match[0][left.end() : right.start()] for left, right in pairwise(numbers)]
        words = [each.strip() for each in between]
        parts = [f"#{_value(numbers[0][0]) + added}"]
        for word, number in zip(words, numbers[1:], strict=True):
            parts += [word.replace("&", "and"), f"#{_value(number[0]) + added}"]
        return " ".join(parts)

    return style.pattern.sub(references, text)


def _value(number: str) -> int:
    return small_number(number) if number.isdecimal() else _NUMBER_WORDS[number.lower()]
