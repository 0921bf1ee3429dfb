"""What a generated plan must not do: rules that the beam search follows.

A rule looks at what has been generated so far and forbids some of the tokens that could come next: references, the
separator of steps, the end, and what would tear a name of several words: a plan has each name of the question whole or
not at all. A name is what stands in quotes, or a run of capitalised words with the small words between them. "Barney
Stinson from How I Met Your Mother" has two; a plan with ``Barney I Met Your Mother`` has torn both. Nor does a plan say
a word twice in a row that the question does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.lexicon import skipped_words, stop_words
from qdecomp.data_structures.qdmr import reference_number

_MOST_REMEMBERED = 20_000

TokenIds = npt.NDArray[np.int64]
"""Token ids of the vocabulary."""

RuleNames = bool | Sequence[str]
"""Which rules hold: all of them, none, or those that are named."""


class PlanProgress(NamedTuple):
    """What the rules need to know of a plan that is being generated."""

    step: int = 1
    """The number of the step that is being generated."""
    begins: bool = True
    """Whether nothing of that step has been generated yet."""
    used: int = 0
    """A bit for each step that has been referred to, by its number."""
    places: int = 0
    """Where in the names of its question the plan may be, see :class:`NamePlaces`."""
    bound: bool = False
    """Whether a name has been begun that must be completed."""
    last: int = -1
    """The last token of that step, if it has one."""


def _only_earlier_references(progress: PlanProgress, rules: PlanRules) -> Iterable[int]:
    return (token for token, number in rules.references.items() if number >= progress.step)


def _no_empty_steps(progress: PlanProgress, rules: PlanRules) -> Iterable[int]:
    ends = (rules.end,) if rules.separator is None else (rules.separator, rules.end)
    return ends if progress.begins else ()


def _no_unused_steps(progress: PlanProgress, rules: PlanRules) -> Iterable[int]:
    # A step that no token refers to can never be used.
    before = range(1, min(progress.step, 1 + max(rules.references.values(), default=0)))
    return () if all(progress.used >> step & 1 for step in before) else (rules.end,)


def _whole_names(progress: PlanProgress, rules: PlanRules) -> Iterable[int]:
    names = rules.names
    if names is None:
        return ()
    if not progress.bound:
        return names.misplaced(progress.places)
    allowed = names.next_places(progress.places)
    others = (word for word, places in names.of.items() if not places & allowed)
    return (*(token for token in range(rules.count) if not names.of.get(token, 0) & allowed), *others)


def _no_repeated_words(progress: PlanProgress, rules: PlanRules) -> Iterable[int]:
    doubled = rules.names.doubled if rules.names else ()
    return () if progress.begins or progress.last in doubled else (progress.last,)


PLAN_RULES: Mapping[str, Callable[[PlanProgress, PlanRules], Iterable[int]]] = MappingProxyType(
    {
        "only_earlier_references": _only_earlier_references,
        "no_empty_steps": _no_empty_steps,
        "no_unused_steps": _no_unused_steps,
        "whole_names": _whole_names,
        "no_repeated_words": _no_repeated_words,
    }
)
"""The rules by name: a step refers to earlier steps only, it has a word, the plan ends when every step but the last has
been referred to, a name of the question is there with all of its words or not at all, and no word is said twice."""


class PlanRules:
    """The chosen rules for a vocabulary, whose tokens beyond its end are words of the question."""

    def __init__(self, tokens: Sequence[str], separator: str, end: str, names: RuleNames = True) -> None:
        chosen = PLAN_RULES if names is True else names or ()
        for name in chosen:
            if name not in PLAN_RULES:
                raise DataError(f"there is no plan rule {name!r}; choose from {', '.join(PLAN_RULES)}")
        self._rules = [rule for name, rule in PLAN_RULES.items() if name in chosen]
        ids = {token: number for number, token in enumerate(tokens)}
        self.references = {place: number for place, token in enumerate(tokens) if (number := reference_number(token))}
        """The number of each reference, by its id."""
        # A small vocabulary may lack the separator, and has plans of one step.
        self.separator, self.end, self.count = ids.get(separator), ids[end], len(tokens)
        self.names: NamePlaces | None = None
        """The names of the question, if it has any."""
        self._known: dict[PlanProgress, TokenIds] = {}

    def with_names(self, names: NamePlaces | None) -> PlanRules:
        """The rules for a question with these names."""
        if names is None:
            return self
        found = copy(self)
        found.names, found._known = names, {}
        return found

    def after(self, progress: PlanProgress, token: int) -> PlanProgress:
        """The progress of a plan with one more token."""
        if token == self.separator:
            return PlanProgress(progress.step + 1, True, progress.used)
        number, names = self.references.get(token), self.names
        used = progress.used if number is None else progress.used | 1 << number
        places = (0, False) if names is None else names.after(progress.places, progress.bound, token)
        return PlanProgress(progress.step, False, used, *places, token)

    def forbidden(self, progress: PlanProgress) -> TokenIds:
        """The ids of the tokens that may not follow."""
        found = self._known.get(progress)
        if found is None:
            forbidden = {token for rule in self._rules for token in rule(progress, self)}
            found = np.array(sorted(forbidden), dtype=np.int64)
            if len(self._known) < _MOST_REMEMBERED:
                self._known[progress] = found
        return found


# The names in a question.

_QUOTES = {'"': '"', "“": "”"}
_LONGEST_IN_QUOTES = 12
_ENDS_OF_SENTENCES = frozenset('.?!:;"”')
_ARTICLES = frozenset({"a", "an", "the"})
_BEFORE_AN_ARTICLE = "of"
_SMALL_WORDS = frozenset({"of", "&", "-", "–", "de", "del", "den", "der", "du", "la", "le", "van", "von"})
# "President of Peru" is a name that a plan may split, as is what follows an abbreviation: "GDP of Peru".
_OFFICES = frozenset(
    (
        *("archbishop", "author", "bishop", "capital", "captain", "ceo", "chairman", "director", "duke", "editor"),
        *("emperor", "founder", "governor", "head", "king", "mayor", "minister", "president", "prime", "prince"),
        *("princess", "queen", "secretary"),
    )
)
_IS = frozenset({"is", "are", "was", "were"})
_AFTER_ADDITIONS = frozenset({"?", "and", "by", "or"})
_JOINING = frozenset({"and", "or"})


def name_spans(words: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """The first word of each name of several words in a question, and the one after its last.

    >>> words = "Which is longer , Summer Wars or The Secret of Kells ?".split()
    >>> [" ".join(words[first:end]) for first, end in name_spans(words)]
    ['Summer Wars', 'The Secret of Kells']
    """
    quoted = list(_quoted(words))
    # If everything has a capital, a capital says nothing.
    runs = _runs(words, quoted) if any(word[:1].islower() for word in words) else ()
    inner = ((first + 1, end - 1) for first, end in quoted)
    return tuple(sorted(span for span in (*_names_in_quotes(words, inner), *runs) if span[1] - span[0] > 1))


def _quoted(words: Sequence[str]) -> Iterator[tuple[int, int]]:
    place = 0
    while place < len(words):
        closing = _QUOTES.get(words[place])
        if closing is not None and closing in words[place + 1 :]:
            end = words.index(closing, place + 1) + 1
            yield place, end
            place = end
        else:
            place += 1


def _names_in_quotes(words: Sequence[str], spans: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    for first, end in spans:
        while end > first and not _is_word(words[end - 1]):
            end -= 1
        if end - first <= _LONGEST_IN_QUOTES and not any(map(_is_initial, words[first:end])):
            yield first, end


def _runs(words: Sequence[str], quoted: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    inside = {place for span in quoted for place in range(*span)}
    capitals = [place not in inside and _has_capital(word) for place, word in enumerate(words)]
    place = 0
    while place < len(words):
        if not capitals[place]:
            place += 1
            continue
        first, end = place, place + 1
        while place < len(words) and (capitals[place] or _joins(words, place)):
            place += 1
            if capitals[place - 1]:
                end = place
        if _begins_sentence(words, first) and (
            words[first].lower() in stop_words() | skipped_words() or not all(capitals[first : first + 2])
        ):
            # Its capital says nothing; nor does the name begin with a small word.
            first = next((number for number in range(first + 1, end) if capitals[number]), end)
        yield first, end - (words[end - 1] == "I")


def _has_capital(word: str) -> bool:
    return word[:1].isupper() and not _is_initial(word)


def _is_initial(word: str) -> bool:
    """Whether it is an initial such as ``J.``, which plans write in several ways."""
    return len(word) == 2 and word[1] == "."


def _is_word(word: str) -> bool:
    return word[:1].isalnum()


def _joins(words: Sequence[str], place: int) -> bool:
    """Whether it is a small word within a name."""
    before = words[place - 1]
    if words[place] in _ARTICLES:
        return before == _BEFORE_AN_ARTICLE
    is_split = before.lower() in _OFFICES or (before.isupper() and len(before) > 1)
    return words[place] in _SMALL_WORDS and not is_split


def _begins_sentence(words: Sequence[str], place: int) -> bool:
    return not place or words[place - 1] in _ENDS_OF_SENTENCES


@dataclass(frozen=True, slots=True)
class NamePlaces:
    """Where a plan that is read or generated word by word may be in the names of its question.

    A set of places is a number with a bit for each of them. Words are ids.
    """

    of: Mapping[int, int]
    """The places in names that each word of the question has, if any."""
    following: Mapping[int, int]
    """The places that may follow a place, which is given by its bit."""
    starts: int
    ends: int
    free: frozenset[int]
    """Words that need not be in a name, although one of the names has them."""
    doubled: frozenset[int] = frozenset()
    """Words that the question has twice in a row."""

    def next_places(self, places: int) -> int:
        """The places of the words that continue a name."""
        found = 0
        while places:
            last = places & -places
            found |= self.following.get(last, 0)
            places ^= last
        return found

    def after(self, places: int, bound: bool, word: int) -> tuple[int, bool]:
        """The places after another word, and whether the plan is bound to complete a name."""
        here = self.of.get(word, 0)
        if not here:
            return 0, False
        continuing = here & self.next_places(places)
        places = continuing if bound else continuing | here & self.starts
        if not places or places & self.ends:
            return places, False
        return places, bound or word not in self.free

    def misplaced(self, places: int) -> Iterator[int]:
        """The words that would begin a name in its middle."""
        allowed = self.starts | self.next_places(places)
        return (word for word, at in self.of.items() if not at & allowed and word not in self.free)


def name_places(words: Sequence[str], ids: Sequence[int], known: int = 0) -> NamePlaces | None:
    """The places of the names of a question, whose words have these ids; None if it has no name and no doubled word.

    Ids below ``known`` are words that a plan may have without copying them.
    """
    spans = name_spans(words)
    doubled = frozenset(first for first, second in pairwise(ids) if first == second)
    if not spans and not doubled:
        return None
    of = dict.fromkeys(ids, 0)
    following: dict[int, int] = {}
    starts = ends = 0
    elsewhere = set(range(len(words))).difference(*(range(*span) for span in spans))
    for first, end in spans:
        for place in range(first, end):
            of[ids[place]] |= 1 << place
            word = words[place]
            if ids[place] < known or not _is_word(word) or word.lower() in stop_words():
                elsewhere.add(place)
        for place in range(first, end - 1):
            # Signs within a name may be left out.
            last = next(number for number in range(place + 1, end) if _is_word(words[number]) or number == end - 1)
            following[1 << place] = _bits(range(place + 1, last + 1))
        if _begins_sentence(words, first):
            elsewhere.add(first)
        starts |= _bits(_starts(words, first, end))
        ends |= _bits([end - 1, *_additions(words, end, -2)])
    return NamePlaces(of, following, starts, ends, frozenset(ids[place] for place in elsewhere), doubled)


def _bits(places: Iterable[int]) -> int:
    return sum({1 << place for place in places})


def _starts(words: Sequence[str], first: int, end: int) -> Iterator[int]:
    """Where a name may begin: also without its article, and without the word that begins the sentence."""
    yield first
    yield from _additions(words, end, -1)
    shared = _shares_its_end(words, first)
    for place in range(first, end - 1):
        if not (shared or _begins_sentence(words, place) or words[place].lower() in _ARTICLES):
            return
        yield place + 1


def _additions(words: Sequence[str], end: int, place: int) -> Iterator[int]:
    """A place near the end of a name, if its last word may not be part of it: "Is the author of Emma English?"."""
    if words[0].lower() in _IS and (end == len(words) or words[end] in _AFTER_ADDITIONS):
        yield end + place


def _shares_its_end(words: Sequence[str], first: int) -> bool:
    """Whether another name may end like it: "the French and the Russian Revolution"."""
    place = first - 1 - (words[first - 1].lower() in _ARTICLES) if first > 1 else 0
    return place > 0 and words[place] in _JOINING and _has_capital(words[place - 1])
