"""Part of speech and lemma as fixed functions of a word and its Penn tag.

Break's official evaluator ran on spaCy 2, where a statistical model chose the tag and everything else followed from it.
Current models decide these by context, which changes NormEM by two points; the functions here restore the old answers
on top of any tagger.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

_TAGS_OF_PART_OF_SPEECH = {
    "ADJ": "AFX JJ JJR JJS",
    "ADP": "IN RP",
    "ADV": "RB RBR RBS WRB",
    "CCONJ": "CC",
    "DET": "DT PDT PRP$ WDT WP$",
    "INTJ": "UH",
    "NOUN": "NN NNS",
    "NUM": "CD",
    "PART": "POS TO",
    "PRON": "EX PRP WP",
    "PROPN": "NNP NNPS",
    "PUNCT": "'' `` , -LRB- -RRB- . : HYPH NFP",
    "SPACE": "_SP",
    "SYM": "$ SYM",
    "VERB": "MD VB VBD VBG VBN VBP VBZ",
    "X": "ADD FW LS XX",
}
_PART_OF_SPEECH = {tag: part for part, tags in _TAGS_OF_PART_OF_SPEECH.items() for tag in tags.split()}

# Words that are something other than their tag says: (tag, part of speech, words). The misspellings are real data.
_SPECIAL_WORDS = (
    (
        "IN",
        "SCONJ",
        "that if as because while since like so than whether although though unless once cause upon till whereas "
        "whilst except despite wether but becuse whie it w/out albeit save besides becouse coz til ask i'd out near "
        "seince tho sice will",
    ),
    (
        "NN",
        "PRON",
        "something anyone anything nothing someone everything everyone everybody nobody somebody anybody any1",
    ),
    ("RB", "PART", "not n't nt n’t"),
    ("VB", "AUX", "be have do get of am are 've"),
    ("VBN", "AUX", "been"),
    ("VBG", "AUX", "being"),
    ("VBZ", "AUX", "am are is 're 's has does"),
    ("VBP", "AUX", "are 're am do have 'm 've 's is 'd"),
    ("VBD", "AUX", "was were did had 'd"),
)
_SPECIAL_PART_OF_SPEECH = {(word, tag): part for tag, part, words in _SPECIAL_WORDS for word in words.split()}

# (tag, lemma, words)
_SPECIAL_LEMMAS = (
    ("VBN", "be", "been"),
    ("VBG", "be", "being"),
    ("VBZ", "be", "am are 're is 's"),
    ("VBP", "be", "am are 're 'm"),
    ("VBD", "be", "was were"),
    ("VBZ", "have", "has"),
    ("VBD", "have", "had 'd"),
    ("VBZ", "do", "does"),
    ("VBD", "do", "did"),
    (
        "PRP",
        "-PRON-",
        "me you he him she her it we us they them mine his hers its ours yours theirs myself yourself himself herself "
        "itself themself ourselves yourselves themselves",
    ),
    ("PRP$", "-PRON-", "my your his her its our their"),
)
_SPECIAL_LEMMA = {(word, tag): lemma for tag, lemma, words in _SPECIAL_LEMMAS for word in words.split()}

_STRAIGHT_QUOTES = {"“": '"', "”": '"', "‘": "'", "’": "'"}

# The word class whose table an inflected form is looked up in. Base forms and names stay as they are.
_CLASS_OF_TAG = {
    "NNS": "noun",
    **dict.fromkeys(("VBD", "VBG", "VBN", "VBZ", "MD"), "verb"),
    **dict.fromkeys(("JJR", "JJS"), "adj"),
    **dict.fromkeys(("RBR", "RBS"), "adv"),
}
_SUFFIXES = {
    "noun": (
        ("s", ""),
        ("ses", "s"),
        ("ves", "f"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    "verb": (
        ("s", ""),
        ("ies", "y"),
        ("es", "e"),
        ("es", ""),
        ("ed", "e"),
        ("ed", ""),
        ("ing", "e"),
        ("ing", ""),
    ),
    "adj": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adv": (),
}

INFLECTED_CLASSES = tuple(_SUFFIXES)
"""The classes of words for which :class:`LemmaTables` needs a table."""


@dataclass(frozen=True, slots=True)
class WordTable:
    """What is known about one word class: its lemmas, and irregular forms with their lemmas."""

    lemmas: frozenset[str]
    irregular: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class LemmaTables:
    """A :class:`WordTable` for each of :data:`INFLECTED_CLASSES`."""

    of_class: Mapping[str, WordTable]

    def __post_init__(self) -> None:
        object.__setattr__(self, "of_class", MappingProxyType(dict(self.of_class)))


def part_of_speech(word: str, tag: str) -> str:
    """The universal part of speech; an unknown tag is ``X``.

    >>> part_of_speech("that", "WDT"), part_of_speech("near", "IN"), part_of_speech("of", "IN")
    ('DET', 'SCONJ', 'ADP')
    """
    if word == word.lower() or word == word.title():
        special = _SPECIAL_PART_OF_SPEECH.get((word.lower(), tag))
        if special is not None:
            return special
    return _PART_OF_SPEECH.get(tag, "X")


def lemma_of(word: str, tag: str, tables: LemmaTables) -> str:
    """The dictionary form, in lower case."""
    word = word.lower()
    special = _SPECIAL_LEMMA.get((word, tag))
    if special is not None:
        return special
    part = part_of_speech(word, tag)
    if part == "PUNCT":
        return _STRAIGHT_QUOTES.get(word, word)
    if part == "AUX" or tag not in _CLASS_OF_TAG:
        return word
    word_class = _CLASS_OF_TAG[tag]
    return _uninflected(word, _SUFFIXES[word_class], tables.of_class[word_class])


def _uninflected(word: str, suffixes: tuple[tuple[str, str], ...], table: WordTable) -> str:
    """The irregular lemma, or what the first matching suffix gives; a known lemma is preferred to an unknown one."""
    candidates = [
        word.removesuffix(suffix) + replacement
        for suffix, replacement in suffixes
        if word.endswith(suffix) and word.removesuffix(suffix) + replacement
    ]
    known = [lemma for lemma in candidates if lemma in table.lemmas or not lemma.isalpha()]
    irregular = [lemma for lemma in table.irregular.get(word, ()) if lemma not in known]
    # Of several irregular lemmas, spaCy 2 preferred the last one.
    return next(iter([*reversed(irregular), *known, *candidates]), word)
