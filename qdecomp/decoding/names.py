"""Names of several words in a question: a plan has each of them whole or not at all.

A name is what stands in quotes, or a run of capitalised words with the small words between them. "Barney Stinson from
How I Met Your Mother" has two; a plan with ``Barney I Met Your Mother`` has torn both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from qdecomp.data_structures.lexicon import skipped_words, stop_words

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
    """The places of the names of a question, whose words have these ids; None if it has no name.

    Ids below ``known`` are words that a plan may have without copying them.
    """
    spans = name_spans(words)
    if not spans:
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
    return NamePlaces(of, following, starts, ends, frozenset(ids[place] for place in elsewhere))


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
