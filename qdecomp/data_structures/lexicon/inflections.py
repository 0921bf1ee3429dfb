"""The inflections of a word, by lemminflect: what counts as the same word in a question and in its steps.

lemminflect's own functions copy each answer member by member, and its tables are a hundred thousand dictionaries, which
take long to make and which Python's garbage collector walks through. Here the lines of a word stay what they are in
lemminflect's files, a text, until somebody asks for the word; lemminflect then reads these lines.
"""

from __future__ import annotations

import gzip
import sys
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.abc import MetaPathFinder
from string import ascii_lowercase
from types import ModuleType, SimpleNamespace
from typing import Any

from qdecomp.data_structures.limits import cache_short

Forms = Mapping[str, tuple[str, ...]]  # the forms of a word by part of speech

# Words longer than this are not English words, and lemminflect's rules for unknown ones would only waste time.
_LONGEST_WORD = 40


@cache_short(entries=16384, longest=_LONGEST_WORD)
def variants(word: str) -> frozenset[str]:
    """The lower-cased inflections of a word, including itself, the noun in "-ness" of an adjective, and a plural.

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


def lemmas(word: str) -> Forms:
    """The lemmas of a word in lower case, by part of speech; none for a word that lemminflect does not know."""
    known = _knowledge()
    found = {}
    for line in known.lemma_lines.of(word):
        _, category, forms = known.read_lemma_line(line)
        found[known.part_of_category(category)] = forms
    return {**found, **known.lemma_overrides.get(word, {})}


def inflections(lemma: str, part: str) -> Forms:
    """The inflections of a lemma in lower case, by tag; those that lemminflect's rules give where it knows none."""
    known = _knowledge()
    tags = known.tags_of_part(part)
    found = {tag: forms for tag, forms in _inflections_of_all_parts(lemma).items() if tag in tags}
    return found or known.guess(lemma, part)


# One word after the other asks for its lemma as a noun, as a verb and as an adjective.
@lru_cache(maxsize=16)
def _inflections_of_all_parts(lemma: str) -> Forms:
    known = _knowledge()
    found: dict[str, tuple[str, ...]] = {}
    if lemma in known.auxiliaries:
        found.update(known.auxiliaries[lemma])
    else:
        for line in known.inflection_lines.of(lemma):
            found.update(known.read_inflection_line(line)[2])
    return {**found, **known.inflection_overrides.get(lemma, {})}


class _SpacyIsNotLoaded(MetaPathFinder):
    """Keeps lemminflect from importing spaCy, for seconds and hundreds of megabytes, for what is not used here."""

    @staticmethod
    def find_spec(fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        if fullname == "spacy":
            raise ModuleNotFoundError("spaCy is not needed for inflections", name="spacy")


@cache
def _knowledge() -> Any:
    """The tables of lemminflect, and its functions that read them."""
    sys.meta_path.insert(0, _SpacyIsNotLoaded)
    try:
        from lemminflect import config, getAllInflectionsOOV
        from lemminflect.codecs.InflectionLUCodec import InflectionLUCodec
        from lemminflect.codecs.LemmaLUCodec import LemmaLUCodec
        from lemminflect.codecs.OverridesCodec import OverridesCodec
        from lemminflect.core.LexicalUtils import categoryToUPos, uposToTags
    finally:
        sys.meta_path.remove(_SpacyIsNotLoaded)
    return SimpleNamespace(
        lemma_lines=_Table(config.lemma_lu_fn),
        lemma_overrides=OverridesCodec.load(config.lemma_overrides_fn),
        inflection_lines=_Table(config.inflection_lu_fn),
        inflection_overrides=OverridesCodec.load(config.infl_overrides_fn),
        # lemminflect puts its own words in the place of what the file has for some auxiliary verbs.
        auxiliaries=InflectionLUCodec.updateForAuxMod({}),
        read_lemma_line=LemmaLUCodec.fromString,
        read_inflection_line=InflectionLUCodec.fromString,
        part_of_category=categoryToUPos,
        tags_of_part=uposToTags,
        guess=getAllInflectionsOOV,
    )


class _Table:
    """The lines of a table, sorted, so that those of a word are found without splitting all of them."""

    def __init__(self, path: str) -> None:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            self._lines = sorted(file.read().splitlines())

    def of(self, word: str) -> list[str]:
        """The lines whose first column is this word."""
        first = f"{word},"
        start = stop = bisect_left(self._lines, first)
        while stop < len(self._lines) and self._lines[stop].startswith(first):
            stop += 1
        return self._lines[start:stop]
