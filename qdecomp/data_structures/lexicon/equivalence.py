"""Which words mean the same in the steps of one question.

The classes are the lexicon's synonyms and, for each word of the question, its inflections; classes that share a word
are merged, and each class is represented by its alphabetically first word.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import TypeAlias

from qdecomp.data_structures.lexicon import stop_words, synonym_classes
from qdecomp.data_structures.lexicon.inflections import variants

_WORD = re.compile(r"\w+")
_LONGEST_CACHED_QUESTION = 300

# There are many, and Python's garbage collector skips a dictionary that holds only strings.
WordClass: TypeAlias = Mapping[str, str]
"""Words that mean the same, each mapped to the one that represents them."""


def representatives(question: str, strict: bool = False) -> Mapping[str, str]:
    """What replaces each word of a class; a word that is not a key stays as it is."""
    short = len(question) <= _LONGEST_CACHED_QUESTION
    return _cached_representatives(question, strict) if short else _representatives(question, strict)


def _representatives(question: str, strict: bool) -> Mapping[str, str]:
    # Stop words are removed before words are replaced.
    words = set(_WORD.findall(question.lower())) - stop_words()
    return {**_static_representatives(strict), **merged_classes([_class_of(word, strict) for word in words])}


# The same question is looked up several times in a row.
_cached_representatives = lru_cache(maxsize=1024)(_representatives)


@lru_cache(maxsize=32768)
def _class_of(word: str, strict: bool) -> WordClass:
    """The inflections of a word, with all synonyms of any of them."""
    static = _static_classes(strict)
    inflections = variants(word)
    if strict:
        # "large" must not connect "larger" with "largest", which the strict lexicon separates.
        inflections -= static.keys()
    return word_class(inflections.union(*[static[each] for each in inflections if each in static]))


def word_class(words: frozenset[str]) -> WordClass:
    """The class of these words; the alphabetically first represents it."""
    return dict.fromkeys(words, min(words, default=""))


def merged_classes(classes: Sequence[WordClass]) -> Mapping[str, str]:
    """The representative of every word, with classes that share a word merged."""
    merged: dict[str, str] = {}
    for each in classes:
        merged.update(each)
    if len(merged) == sum(map(len, classes)):
        return merged
    disjoint: list[WordClass] = []
    for each in classes:
        # Disjoint classes share no word, so absorbing one never brings in another.
        overlapping = [other for other in disjoint if not other.keys().isdisjoint(each)]
        if overlapping:
            disjoint = [other for other in disjoint if other not in overlapping]
            each = word_class(frozenset(each).union(*overlapping))
            merged.update(each)
        disjoint.append(each)
    return merged


@cache
def _static_classes(strict: bool) -> Mapping[str, frozenset[str]]:
    return {word: group for group in synonym_classes(strict) for word in group}


@cache
def _static_representatives(strict: bool) -> Mapping[str, str]:
    return {word: min(group) for word, group in _static_classes(strict).items()}
