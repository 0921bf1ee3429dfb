"""QDMR: a question's decomposition into steps that refer to each other, and its text form.

The text is Break's: ``return flights ;return #1 from denver``. People typed it, so the reader accepts what can
be understood (double spaces, empty steps, a missing ``return``, quotes around the whole) and raises
:class:`~qdecomp.data_structures.errors.QdmrSyntaxError`, naming the step, for what cannot.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module

from qdecomp.data_structures.errors import QdmrSyntaxError, Reason, require_text
from qdecomp.data_structures.limits import (
    LONGEST_DECOMPOSITION,
    LONGEST_REMEMBERED_STEP,
    LONGEST_STEP,
    MOST_STEP_WORDS,
    MOST_STEPS,
    above,
    cache_short,
)

_REFERENCE = re.compile(r"#([0-9]+)\Z")
# A reference that is glued to its neighbours, such as "#1's" or "(#2)", is separated; "#" alone is a word.
_TOKEN = re.compile(r"#[0-9]+(?![0-9])|,|[^\s,#]+|#")
# Parsers and people glue "return" to the next word or to itself; "returns" and "returned" are words of the step, and so
# is a second "return" after a space, as in "return return flights".
_RETURN = re.compile(r"\A\s*(?:(?:return){1,3}(?!(?:s|ed|ing|ers?)\b)\s*)?", re.IGNORECASE)
_OPENING_QUOTES = "\"'\u201c\u2018"
_CLOSING_QUOTES = "\"'\u201d\u2019"
_RETURN_WITHIN = re.compile(r"\s*return\s", re.IGNORECASE)
# Longer numbers cannot name a step, and converting all their digits would take quadratic time.
_MAX_REFERENCE_DIGITS = 9


def is_reference(token: str) -> bool:
    """Whether a token such as ``#3`` refers to a step."""
    return token[:1] == "#" and reference_number(token) is not None


@lru_cache(maxsize=1024)
def reference_number(token: str) -> int | None:
    """The number of the step that a token refers to, or None for an ordinary word."""
    match = _REFERENCE.match(token)
    if match is None:
        return None
    return int(match[1].lstrip("0")[:_MAX_REFERENCE_DIGITS] or "0")


def references_of(tokens: Iterable[str]) -> tuple[int, ...]:
    """The numbers of the steps that the tokens refer to, in order, with repetitions."""
    numbers = [reference_number(token) for token in tokens if token[:1] == "#"]
    return tuple([number for number in numbers if number is not None])


class Drawn:
    """The base of what a notebook shows as a picture; a higher layer, loaded when needed, draws it."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(import_module("qdecomp.visualization").value_html(self))


@dataclass(frozen=True, slots=True)
class Step:
    """One step without its ``return``: words, commas and references such as ``#2``."""

    tokens: tuple[str, ...]
    references: tuple[int, ...] = field(init=False, repr=False, compare=False)
    """The numbers (from 1) of the steps that this one refers to, in order."""

    def __post_init__(self) -> None:
        tokens, text = self.tokens, self.text
        if not tokens:
            raise QdmrSyntaxError("a step without words")
        if reason := above(MOST_STEP_WORDS, len(tokens), "words") or above(LONGEST_STEP, len(text), "characters"):
            raise QdmrSyntaxError(reason)
        if ";" in text or tuple(_TOKEN.findall(text)) != tokens:
            raise QdmrSyntaxError(Reason("not the tokens of one step: {!r}", tokens))
        object.__setattr__(self, "references", references_of(tokens))

    @property
    def text(self) -> str:
        """The tokens with single spaces between them."""
        return " ".join(self.tokens)

    def renumbered(self, places: Mapping[int, int]) -> Step:
        """The step with other numbers in its references; those that ``places`` lacks stay."""
        numbers = [reference_number(token) or 0 for token in self.tokens]
        pairs = zip(numbers, self.tokens, strict=True)
        return Step(tuple([f"#{places[number]}" if number in places else token for number, token in pairs]))


@dataclass(frozen=True, slots=True)
class Qdmr(Drawn):
    """A decomposition. Its references name steps that exist and form no cycle."""

    steps: tuple[Step, ...]

    def __post_init__(self) -> None:
        check_steps([step.references for step in self.steps])

    def __str__(self) -> str:
        return format_qdmr(self)

    def __len__(self) -> int:
        return len(self.steps)


def check_steps(references: Sequence[Iterable[int]]) -> None:
    """Raise unless there are steps, given by their references, but not too many, and they can be ordered."""
    if not references:
        raise QdmrSyntaxError("there is no step")
    if reason := above(MOST_STEPS, len(references), "steps"):
        raise QdmrSyntaxError(reason)
    check_references(references)


def check_references(references: Sequence[Iterable[int]]) -> None:
    """Raise unless every reference names another step, perhaps a later one, and no step needs itself."""
    count = len(references)
    refers_back = True
    for number, targets in enumerate(references, start=1):
        for target in targets:
            if 0 < target < number:
                continue
            if target == number:
                raise QdmrSyntaxError(Reason("refers to itself (#{})", target), number)
            if not 1 <= target <= count:
                raise QdmrSyntaxError(Reason("refers to #{}, but there are {} steps", target, count), number)
            refers_back = False
    if refers_back:
        return
    try:
        order_by_references(dict(enumerate(references, start=1)))
    except CycleError as error:
        cycle = error.args[1]
        path = " → ".join(f"#{number}" for number in cycle[1:])
        raise QdmrSyntaxError(Reason("its references form a cycle (#{} → {})", cycle[0], path), min(cycle)) from None


def order_by_references(references: Mapping[int, Iterable[int]]) -> list[int]:
    """The steps' numbers, each after the steps that it refers to; ``graphlib.CycleError`` if there is a cycle."""
    if all(target < number for number, targets in references.items() for target in targets):
        return sorted(references)
    return list(TopologicalSorter(references).static_order())


def levels_of(references: Mapping[int, Iterable[int]]) -> dict[int, int]:
    """0 for a step that refers to none, and otherwise one more than the highest of those that it refers to."""
    levels: dict[int, int] = {}
    for number in order_by_references(references):
        levels[number] = 1 + max((levels[target] for target in references[number]), default=-1)
    return levels


def parse_qdmr(text: str) -> Qdmr:
    """Read a decomposition from Break's text; empty steps are left out.

    >>> [step.text for step in parse_qdmr("return flights ;return #1 from  denver").steps]
    ['flights', '#1 from denver']
    """
    steps: list[Step | None] = []
    for part in split_into_steps(text):
        try:
            steps.append(_parse_known_step(part))
        except QdmrSyntaxError as error:
            raise QdmrSyntaxError(error.reason, len(steps) + 1) from None
    return Qdmr(tuple(_without_empty_steps(steps)))


def split_into_steps(text: str) -> list[str]:
    """The texts of the steps as they stand in a decomposition, each for :func:`parse_step_text`."""
    require_text(text, "a decomposition")
    if reason := above(LONGEST_DECOMPOSITION, len(text), "characters"):
        raise QdmrSyntaxError(reason)
    return [part for part in map(str.strip, _without_outer_quotes(text).split(";")) if part]


def parse_step_text(text: str) -> Step | None:
    """Read one step; None where there is nothing but ``return``."""
    start = _RETURN.match(text)
    tokens = _TOKEN.findall(text, start.end() if start else 0)
    return Step(tuple(tokens)) if tokens else None


_parse_known_step = cache_short(entries=8192, longest=LONGEST_REMEMBERED_STEP)(parse_step_text)


def format_qdmr(qdmr: Qdmr) -> str:
    """Write a decomposition as Break does; :func:`parse_qdmr` reads it back to the same value."""
    return " ;".join(f"return {step.text}" for step in qdmr.steps)


def _without_outer_quotes(text: str) -> str:
    """The text inside quotes around the whole, but not those around its first and last word: ``"x" and "y"``."""
    stripped = text.strip()
    if len(stripped) < 2 or stripped[0] not in _OPENING_QUOTES or stripped[-1] not in _CLOSING_QUOTES:
        return stripped
    inside = stripped[1:-1]
    is_around_all = _RETURN_WITHIN.match(inside) or not {stripped[0], stripped[-1]} & set(inside)
    return inside if is_around_all else stripped


def _without_empty_steps(steps: list[Step | None]) -> list[Step]:
    """Leave out steps that say only "return"; they were counted, so later references are renumbered."""
    kept = {number: step for number, step in enumerate(steps, start=1) if step is not None}
    if len(kept) == len(steps):
        return list(kept.values())
    places = {old: new for new, old in enumerate(kept, start=1)}
    return [step.renumbered(places) for step in kept.values()]
