"""Which words mean the same in the steps of one question.

The classes are the synonyms of the constant lexicon and, for each word of the question, its inflections; classes that
share a word are merged, and each class is represented by its alphabetically first word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import NamedTuple

from ..lexicon import stop_words, synonym_classes
from .inflections import variants

__all__ = ["WordGroup", "names_of_classes", "representatives", "word_group"]

_WORD = re.compile(r"\w+")


# Questions come one after another, and a million of them should not fill the memory.
@lru_cache(maxsize=1024)
def representatives(question: str, strict: bool = False) -> Mapping[str, str]:
    """What each word of a class is replaced by; a word that is not there stays as it is.

    >>> representatives("Which cities have two rivers?")["city"]
    'cities'
    """
    names = dict(_static_representatives(strict))
    # Stop words are gone before anything is replaced.
    words = dict.fromkeys(_WORD.findall(question.lower()))
    groups = [_group_of(word, strict) for word in words if word not in stop_words()]
    for names_of_class in names_of_classes(groups):
        names.update(names_of_class)
    return names


class WordGroup(NamedTuple):
    """Words that form one class, and what each of them is replaced by if no other class shares a word with it."""

    words: frozenset[str]
    names: Mapping[str, str]


@lru_cache(maxsize=65536)
def _group_of(word: str, strict: bool) -> WordGroup:
    """The inflections of a word, with all synonyms of any of them."""
    static = _static_classes(strict)
    inflections = variants(word)
    if strict:
        # "large" must not connect "larger" with "largest", which the strict lexicon separates.
        inflections -= static.keys()
    return word_group(inflections.union(*(static[each] for each in inflections if each in static)))


def word_group(words: frozenset[str]) -> WordGroup:
    """The group of these words; the alphabetically first represents it."""
    return WordGroup(words, dict.fromkeys(words, min(words, default="")))


def names_of_classes(groups: Iterable[WordGroup]) -> Iterator[Mapping[str, str]]:
    """The classes that groups form; a later one replaces the earlier ones that it absorbs."""
    seen: set[str] = set()
    classes: list[frozenset[str]] = []
    for group in groups:
        if not seen.isdisjoint(group.words):
            # Classes have no word in common, so absorbing one never brings in another.
            touched = [each for each in classes if not each.isdisjoint(group.words)]
            classes = [each for each in classes if each not in touched]
            group = word_group(group.words.union(*touched))
        classes.append(group.words)
        seen |= group.words
        yield group.names


@cache
def _static_classes(strict: bool) -> Mapping[str, frozenset[str]]:
    return {word: group for group in synonym_classes(strict) for word in group}


@cache
def _static_representatives(strict: bool) -> Mapping[str, str]:
    return {word: min(group) for word, group in _static_classes(strict).items()}
