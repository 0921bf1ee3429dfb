"""Which words mean the same in the steps of one question.

The classes are the synonyms of the constant lexicon and, for each word of the question, its inflections; classes that
share a word are merged, and each class is represented by its alphabetically first word.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import TypeAlias

from qdecomp.data_structures.lexicon import stop_words, synonym_classes
from qdecomp.data_structures.lexicon.inflections import variants

_WORD = re.compile(r"\w+")
_LONGEST_REMEMBERED_QUESTION = 300

# A dictionary of texts alone is nothing that Python's garbage collector has to walk through; there are many of them.
WordClass: TypeAlias = Mapping[str, str]
"""Words that mean the same, each with the one that stands for all of them."""


def representatives(question: str, strict: bool = False) -> Mapping[str, str]:
    """What each word of a class is replaced by; a word that is not there stays as it is.

    >>> representatives("Which cities have two rivers?")["city"]
    'cities'
    """
    short = len(question) <= _LONGEST_REMEMBERED_QUESTION
    return _remembered_representatives(question, strict) if short else _representatives(question, strict)


def _representatives(question: str, strict: bool) -> Mapping[str, str]:
    # Stop words are gone before anything is replaced.
    stopped = stop_words()
    words = dict.fromkeys(_WORD.findall(question.lower()))
    classes = [_class_of(word, strict) for word in words if word not in stopped]
    return {**_static_representatives(strict), **merged_classes(classes)}


# A question is asked about several times in a row.
_remembered_representatives = lru_cache(maxsize=1024)(_representatives)


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
    """All words of some classes with what stands for them; classes that share a word are one."""
    names: dict[str, str] = {}
    for each in classes:
        names.update(each)
    if len(names) == sum(map(len, classes)):
        return names
    apart: list[WordClass] = []
    for each in classes:
        # Those that are apart have no word in common, so absorbing one never brings in another.
        touched = [other for other in apart if not other.keys().isdisjoint(each)]
        if touched:
            apart = [other for other in apart if other not in touched]
            each = word_class(frozenset(each).union(*touched))
            names.update(each)
        apart.append(each)
    return names


@cache
def _static_classes(strict: bool) -> Mapping[str, frozenset[str]]:
    return {word: group for group in synonym_classes(strict) for word in group}


@cache
def _static_representatives(strict: bool) -> Mapping[str, str]:
    return {word: min(group) for word, group in _static_classes(strict).items()}
