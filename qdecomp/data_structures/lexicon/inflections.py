"""The inflections of a word, by lemminflect: what counts as the same word in a question and in its steps."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import lru_cache
from importlib.abc import MetaPathFinder
from string import ascii_lowercase
from types import ModuleType

__all__ = ["variants"]

# Words longer than this are not English words, and lemminflect's rules for unknown ones would only waste time.
_LONGEST_WORD = 40


class _SpacyIsNotLoaded(MetaPathFinder):
    """Keeps lemminflect from importing spaCy, which it does if it can, for extensions that are not used here.

    That import takes seconds and hundreds of megabytes; if spaCy is already loaded, it is left alone.
    """

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        if fullname == "spacy":
            raise ModuleNotFoundError("spaCy is not needed for inflections", name="spacy")


@lru_cache(maxsize=1)
def _lemminflect() -> ModuleType:
    finder = _SpacyIsNotLoaded()
    sys.meta_path.insert(0, finder)
    try:
        import lemminflect
    finally:
        sys.meta_path.remove(finder)
    module: ModuleType = lemminflect
    return module


@lru_cache(maxsize=65536)
def variants(word: str) -> frozenset[str]:
    """The lower-cased inflections of a word, including itself, the noun in "-ness" of an adjective, and a plural.

    >>> sorted(variants("Cities"))
    ['cities', 'city']
    >>> sorted(variants("cheapest"))
    ['cheap', 'cheaper', 'cheapest', 'cheapests', 'cheapness']
    """
    lower = word.lower()
    if len(lower) > _LONGEST_WORD:
        return frozenset((lower,))
    # In a word such as "primary_conference", the last part inflects.
    stem = lower.rstrip(ascii_lowercase)
    last = lower[len(stem) :]
    if len(last) < 2:
        return frozenset((lower,))
    lemmas = _lemminflect().getAllLemmas(last)
    if not lemmas:
        # A name or a rare word: lemminflect would guess by its ending, which takes longer and gives no more than this.
        singular = last[:-1] if last.endswith("s") and not last.endswith("ss") else last
        forms = frozenset((last, singular, _regular_plural(singular)))
    else:
        inflected = (_inflected(lemma, part) for part, known in lemmas.items() for lemma in known)
        forms = frozenset((last, _regular_plural(last))).union(*inflected)
    return frozenset(stem + form for form in forms) if stem else forms


def _regular_plural(word: str) -> str:
    """The plural as if the word were a countable noun: annotators were offered it for every word of a question."""
    if word.endswith("s"):
        return word
    if word.endswith(("x", "z", "ch", "sh")):
        return f"{word}es"
    # A slice, because "y" has no letter before the last: its plural is "ys".
    return f"{word[:-1]}ies" if word.endswith("y") and word[-2:-1] not in "aeiou" else f"{word}s"


@lru_cache(maxsize=65536)
def _inflected(lemma: str, part: str) -> frozenset[str]:
    library = _lemminflect()
    forms = library.getAllInflections(lemma, upos=part) or library.getAllInflectionsOOV(lemma, upos=part)
    derived = (f"{lemma[:-1]}i" if lemma.endswith("y") else lemma) + "ness"
    found = frozenset((lemma, derived) if part == "ADJ" else (lemma,))
    return found.union(*({form.lower() for form in group} for group in forms.values()))
