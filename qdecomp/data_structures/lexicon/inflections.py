"""The inflections of a word, by lemminflect: what counts as the same word in a question and in its steps."""

from __future__ import annotations

from functools import lru_cache
from string import ascii_lowercase

from qdecomp.data_structures.lexicon.inflection_tables import inflections, lemmas

__all__ = ["variants"]

# Words longer than this are not English words, and lemminflect's rules for unknown ones would only waste time.
_LONGEST_WORD = 40


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
    known = lemmas(last)
    if not known:
        # A name or a rare word: lemminflect would guess by its ending, which takes longer and gives no more than this.
        singular = last[:-1] if last.endswith("s") and not last.endswith("ss") else last
        forms = {last, singular, _regular_plural(singular)}
    else:
        forms = {last, _regular_plural(last)}
        for part, spellings in known.items():
            for lemma in spellings:
                forms.update(_inflected(lemma.lower(), part))
    return frozenset([stem + form for form in forms] if stem else forms)


def _regular_plural(word: str) -> str:
    """The plural as if the word were a countable noun: annotators were offered it for every word of a question."""
    if word.endswith("s"):
        return word
    if word.endswith(("x", "z", "ch", "sh")):
        return f"{word}es"
    # A slice, because "y" has no letter before the last: its plural is "ys".
    return f"{word[:-1]}ies" if word.endswith("y") and word[-2:-1] not in "aeiou" else f"{word}s"


def _inflected(lemma: str, part: str) -> list[str]:
    found = [lemma]
    for forms in inflections(lemma, part).values():
        found += [form.lower() for form in forms]
    if part == "ADJ":
        found.append((f"{lemma[:-1]}i" if lemma.endswith("y") else lemma) + "ness")
    return found
