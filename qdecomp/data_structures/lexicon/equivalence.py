"""Which words mean the same in the steps of one question.

The classes are the synonyms of the constant lexicon and, for each word of the question, its inflections; classes
that share a word are one class, and a word stands for its class: the alphabetically first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache

from ..lexicon import stop_words, synonym_classes
from .inflections import variants

__all__ = ["equivalence_classes", "representatives"]

_NO_WORDS: frozenset[str] = frozenset()
_WORD = re.compile(r"\w+")


# Questions come one after the other, and a million of them should not fill the memory.
@lru_cache(maxsize=1024)
def representatives(question: str, strict: bool = False) -> Mapping[str, str]:
    """What each word of a class is replaced by; a word that is missing stands for itself.

    >>> representatives("Which cities have two rivers?")["city"]
    'cities'
    """
    # Stop words are gone before anything is replaced.
    words = [word for word in dict.fromkeys(_WORD.findall(question.lower())) if word not in stop_words()]
    groups = (variants(word) for word in words)
    if strict:
        # "large" must not tie "larger" to "largest", which the strict lexicon keeps apart.
        groups = (group - _static_classes(True).keys() for group in groups)
    return _named(equivalence_classes(groups, strict), strict)


def equivalence_classes(groups: Iterable[frozenset[str]], strict: bool = False) -> list[set[str]]:
    """Merge groups of words with each other and with the synonym classes that they touch."""
    class_of: dict[str, set[str]] = {}
    static = _static_classes(strict)
    for group in groups:
        merged = set(group)
        # A synonym class is taken in whole, so its words are either all in class_of or none of them is.
        for word in group:
            merged |= class_of.get(word) or static.get(word, _NO_WORDS)
        for word in merged:
            class_of[word] = merged
    return list({id(found): found for found in class_of.values()}.values())


@cache
def _static_classes(strict: bool) -> Mapping[str, frozenset[str]]:
    return {word: group for group in synonym_classes(strict) for word in group}


@cache
def _static_representatives(strict: bool) -> Mapping[str, str]:
    return {word: min(group) for word, group in _static_classes(strict).items()}


def _named(classes: Iterable[set[str]], strict: bool) -> Mapping[str, str]:
    names = dict(_static_representatives(strict))
    for group in classes:
        name = min(group, default="")
        for word in group:
            names[word] = name
    return names
