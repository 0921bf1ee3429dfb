"""The word lists of QDMR, read once from the data files next to this module.

To add a word or a class, add it to a file. Everything is lower case.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import Any

from qdecomp.data_structures.operators import Operator

NUMBER_WORDS: tuple[tuple[str, ...], ...] = (("0", "zero"), ("1", "one"), ("2", "two"))
"""The numbers that have their own properties, such as ``equals-1``, with the ways to write them."""

_NEGATION = frozenset(("not",))
# The published metric removes the word that begins every step from the middle of a step, too.
_STEP_MARK = frozenset(("return",))


@dataclass(frozen=True, slots=True)
class PropertyPhrases:
    """The phrases that show a property; a property of a lower tier is found before one of a higher tier."""

    property: str
    tier: int
    phrases: tuple[tuple[str, ...], ...]


def _lines(name: str) -> Iterator[tuple[str, ...]]:
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            yield tuple(line.split())


@cache
def stop_words() -> frozenset[str]:
    """Auxiliary words (V_aux of the paper), which carry no content."""
    return frozenset(chain.from_iterable(_lines("stop_words.txt")))


@cache
def skipped_words() -> frozenset[str]:
    """Words of questions, besides the auxiliary words, that decompositions often leave out or say differently."""
    return frozenset(chain.from_iterable(_lines("skipped_words.txt")))


@cache
def synonym_classes(strict: bool = False) -> tuple[frozenset[str], ...]:
    """The classes of the constant lexicon; the strict ones separate what differs in meaning."""
    return tuple(frozenset(line) for line in _lines("synonyms_strict.txt" if strict else "synonyms.txt"))


@cache
def property_phrases(operator: Operator) -> tuple[PropertyPhrases, ...]:
    """What shows each property of an operator, in the order of tiers."""
    rows = [
        PropertyPhrases(name, row["tier"], phrases)
        for row in _rows("properties.json", operator)
        for name, phrases in _with_numbers(row["property"], row["phrases"])
    ]
    return tuple(sorted(rows, key=lambda row: row.tier))


def _rows(name: str, operator: Operator) -> list[dict[str, Any]]:
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    return [row for row in json.loads(text) if operator.value in row["operators"]]


@cache
def property_words(operator: Operator, name: str | None = None) -> frozenset[str]:
    """The single words of all phrases that show a property, or any property."""
    rows = [row for row in property_phrases(operator) if name in (None, row.property)]
    return frozenset(word for row in rows for phrase in row.phrases for word in phrase)


@cache
def removed_words(operator: Operator, properties: tuple[str, ...], strict: bool) -> frozenset[str]:
    """The words that do not count in a step: auxiliary words, and those that show its properties."""
    removed = stop_words() - _NEGATION if strict else stop_words() | _STEP_MARK
    return removed.union(*(property_words(operator, name) for name in properties))


def _with_numbers(name: str, phrases: list[str]) -> Iterator[tuple[str, tuple[tuple[str, ...], ...]]]:
    for words in NUMBER_WORDS if "{n}" in name else [("",)]:
        filled = (phrase.replace("{n}", word) for phrase in phrases for word in words)
        yield name.replace("{n}", words[0]), tuple(tuple(phrase.split()) for phrase in filled)


@cache
def anchor_words(operator: Operator, properties: tuple[str, ...]) -> frozenset[str]:
    """Words of a question, such as "many" for "number of #1", that may represent a step without words of its own."""
    general = (words for name, words in _anchor_rows(operator) if name is None)
    return property_anchors(operator, properties).union(*general)


@cache
def property_anchors(operator: Operator, properties: tuple[str, ...]) -> frozenset[str]:
    """Those that show the step's property, from ``lexicon/anchors.json`` and the property lexicon."""
    said = {word for name in properties for word in property_words(operator, name)} - stop_words()
    return frozenset(said).union(*(words for name, words in _anchor_rows(operator) if name in properties))


@cache
def _anchor_rows(operator: Operator) -> tuple[tuple[str | None, frozenset[str]], ...]:
    return tuple((row["property"], frozenset(row["words"].split())) for row in _rows("anchors.json", operator))
