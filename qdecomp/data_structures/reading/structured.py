"""Steps in JSON or in a Python literal, alone or inside other text."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from qdecomp.data_structures.reading.lists import WrittenStep, consecutive, without_labels

# Where a value with steps may begin; otherwise, what is inside a text was not written as data.
_START = re.compile(r"\[\s*[\"'{]|\{\s*[\"']")
_MOST_STARTS = 16
_MOST_DEPTH = 6
# The names that writers give to all steps, to the text of a step, and to its number, as _named() writes them.
_ALL_STEPS = [
    *("steps", "decomposition", "qdmr", "plan", "subquestions", "substeps", "decomposedquestions"),
    *("decompositionsteps", "questions", "operations", "tasks", "queries", "subqueries", "reasoningsteps"),
    *("output", "answer", "result", "response"),
]
_ONE_STEP = [
    *("text", "step", "question", "q", "subquestion", "description", "query", "content", "instruction"),
    *("operation", "action", "task", "substep", "decomposition", "qdmr", "value"),
]
_NUMBER_OF_STEP = ["step", "id", "number", "index", "stepnumber", "stepid", "no", "n", "order", "i"]
_IDS = ["id", *(name for name in _NUMBER_OF_STEP if name != "id"), "name", "key", "label"]
_NEEDED_STEPS = [
    *("dependson", "dependencies", "dependency", "deps", "parents", "parent", "inputs", "requires"),
    *("prerequisites", "needs", "references", "refs", "dependentsteps", "dependsonsteps"),
]
_NUMBERED_NAME = re.compile(r"[a-z#]*(\d{1,3})\Z")


def steps_in_text(text: str) -> list[WrittenStep]:
    """The steps of the first value in a text that has some."""
    return next((steps for value in _values(text) if (steps := steps_of_value(value))), [])


def steps_of_value(value: Any, depth: int = 0) -> list[WrittenStep]:
    """The steps of a list of strings or objects, or of an object with such a list or with numbered steps."""
    if depth > _MOST_DEPTH:
        return []
    if isinstance(value, Mapping):
        return _steps_of_object(_named(value), depth)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray):
        return _steps_of_list(value, depth)
    return []


def _steps_of_object(members: Mapping[str, Any], depth: int) -> list[WrittenStep]:
    for name in _ALL_STEPS:
        inside = members.get(name)
        if isinstance(inside, str) and inside.strip():
            return [WrittenStep(inside)]
        if steps := steps_of_value(inside, depth + 1):
            return steps
    numbered = [
        (int(match[1]), _named(each)) for name, each in members.items() if (match := _NUMBERED_NAME.match(name))
    ]
    numbered.sort(key=lambda pair: pair[0])
    texts = [text for _, each in numbered if (text := _text_of_step(each)) is not None]
    if not texts or len(texts) < len(members):
        return []
    steps = [WrittenStep(text, number) for text, (number, _) in zip(texts, numbered, strict=True)]
    return _with_needs(steps, [each for _, each in numbered])


def _steps_of_list(values: Sequence[Any], depth: int) -> list[WrittenStep]:
    members = [_named(value) for value in values]
    texts = [text for each in members if (text := _text_of_step(each)) is not None]
    if not texts or len(texts) < len(members):
        return steps_of_value(values[0], depth + 1) if len(values) == 1 else []
    steps = without_labels(texts)
    labels = [label for each in members if (label := _number_of_step(each)) is not None]
    if len(labels) == len(steps) and consecutive(labels):
        steps = [WrittenStep(step.text, label) for step, label in zip(steps, labels, strict=True)]
    else:
        steps = _without_ids(steps, members)
    return _with_needs(steps, members)


def _ids(values: Sequence[Any]) -> list[str]:
    """What the writer calls each step, or nothing if not all of them have a name of their own."""
    for name in _IDS:
        ids = [_member(value, [name]) for value in values]
        texts = [str(each) for each in ids if isinstance(each, str | int) and str(each).strip()]
        if len(set(texts)) == len(values):
            return texts
    return []


def _without_ids(steps: list[WrittenStep], values: Sequence[Any]) -> list[WrittenStep]:
    """The steps with references instead of ids in brackets or after a sign, such as ``{capital}`` or ``#q7``."""
    places = {each.lower(): place for place, each in enumerate(_ids(values), start=1)}
    if not places:
        return steps
    names = "|".join(re.escape(each) for each in sorted(places, key=len, reverse=True))
    said = re.compile(
        rf"(?:\$?\{{{{1,2}}\s?|\[|<|[#$@])(?:answer of )?(?P<id>{names})(?:[._](?:answer|output|result))?"
        r"(?:\s?\}{1,2}|\]|>|(?!\w))",
        re.IGNORECASE,
    )
    return [
        WrittenStep(said.sub(lambda match: f"#{places[match['id'].lower()]}", step.text), step.label) for step in steps
    ]


def _with_needs(steps: Sequence[WrittenStep], values: Sequence[Any]) -> list[WrittenStep]:
    """The steps with those that they depend on, as a member such as ``depends_on`` says, by number or by id."""
    said = [_listed(_member(value, _NEEDED_STEPS)) for value in values]
    ids = [_name(each) for each in _ids(values)] or [str(step.label) for step in steps if step.label is not None]
    if len(ids) != len(steps):
        first = 0 if any("0" in each for each in said) else 1
        ids = [str(number) for number in range(first, first + len(steps))]
    places = {each: place for place, each in enumerate(ids, start=1)}
    bare = {match[1]: place for each, place in places.items() if (match := _NUMBERED_NAME.match(each))}
    found = []
    for place, (step, names) in enumerate(zip(steps, said, strict=True), start=1):
        targets = [places.get(name) or bare.get(name.lstrip("abcdefghijklmnopqrstuvwxyz#")) for name in names]
        needs = tuple(dict.fromkeys(target for target in targets if target is not None and target != place))
        found.append(WrittenStep(step.text, step.label, needs))
    return found


def _listed(value: Any) -> list[str]:
    values = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    texts = [str(each) for each in values if isinstance(each, str | int) and not isinstance(each, bool)]
    return [_name(part).strip("[]{}<>") for text in texts for part in text.split(",") if part.strip()]


def has_text(value: Mapping[str, Any]) -> bool:
    """Whether a member of an object is named as the text of a step."""
    return not _named(value).keys().isdisjoint(_ONE_STEP)


def _text_of_step(value: Any) -> str | None:
    """A text, or that of an object: the member that is named so, or the only one that is a text."""
    if isinstance(value, str) or not isinstance(value, dict):
        return value if isinstance(value, str) else None
    texts = {name: each for name, each in value.items() if isinstance(each, str)}
    only = next(iter(texts.values())) if len(texts) == 1 else None
    return next((texts[name] for name in _ONE_STEP if name in texts), only)


def _number_of_step(value: Any) -> int | None:
    if not isinstance(value, dict):
        return None
    for name in _NUMBER_OF_STEP:
        number = value.get(name)
        if isinstance(number, int) and not isinstance(number, bool):
            return number
        if isinstance(number, str) and (match := _NUMBERED_NAME.match(_name(number))):
            return int(match[1])
    return None


def _member(value: Any, names: Sequence[str]) -> Any:
    """The member with the first of these names that an object has."""
    return next((value[name] for name in names if name in value), None) if isinstance(value, dict) else None


def _named(value: Any) -> Any:
    """An object with its names in lower case and in one word; any other value as it is."""
    return {_name(key): each for key, each in value.items()} if isinstance(value, Mapping) else value


def _name(key: Any) -> str:
    return re.sub(r"[\s_-]", "", str(key)).lower()


def _values(text: str) -> Iterator[Any]:
    """The values that begin somewhere in a text; JSON first, then what Python would write."""
    decoder = json.JSONDecoder(strict=False)
    stripped = text.strip()
    if stripped[:1] == '"':
        # A string that was encoded twice.
        try:
            inner = decoder.decode(stripped)
        except ValueError:
            inner = stripped
        if isinstance(inner, str) and inner != stripped:
            yield from _values(inner)
            return
    for start in list(_START.finditer(text))[:_MOST_STARTS]:
        try:
            value, _ = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            value = _python_literal(text[start.start() :])
        if value is not None:
            yield value


def _python_literal(text: str) -> Any:
    """What Python reads up to the last bracket: single quotes and a comma after the last member are fine there."""
    end = text.rfind("]" if text[0] == "[" else "}") + 1
    try:
        return ast.literal_eval(text[:end])
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        # A TypeError: a set or the keys of an object that cannot be hashed, such as {'a', ['b']}.
        return None
