"""References in words: "that country", "those", names of steps, and what data beside a step says that it needs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from qdecomp.data_structures.reading.values import WrittenStep

IN_WORDS = "those"
"""The name of this style of references."""

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
    """The steps without the names that their writer gives them, and with references for these names.

    >>> steps = [WrittenStep("the director of Jaws (call this D)"), WrittenStep("films by D")]
    >>> [step.text for step in with_names(steps)]
    ['the director of Jaws', 'films by #1']
    """
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
    """Sentences without a reference refer to the step before with "that country" or "those"; whether one does.

    >>> with_mentions(["Where was Ada Lovelace born?", "What is the capital of that country?"])
    (['Where was Ada Lovelace born?', 'What is the capital of #1?'], True)
    """
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
    """The texts with the references that data gives beside them, and the steps that say nothing about theirs.

    >>> steps = [WrittenStep("cubes"), WrittenStep("that are red", needs=(1,)), WrittenStep("number", needs=(2,))]
    >>> with_needs([step.text for step in steps], steps)
    (['cubes', '#1 that are red', 'number of #2'], [2, 3])
    """
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
