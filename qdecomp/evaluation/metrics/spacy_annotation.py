"""Annotations from spaCy: the model gives tags and trees, and the functions of :mod:`.penn_words` give the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

from qdecomp.evaluation.metrics.annotation import (
    MissingAnnotationError,
    StepAnnotation,
    Token,
    read_annotations,
    write_annotations,
)
from qdecomp.evaluation.metrics.break_text import REFERENCE
from qdecomp.evaluation.metrics.penn_words import INFLECTED_CLASSES, LemmaTables, WordTable, lemma_of, part_of_speech
from qdecomp.training.pretrained import load_spacy

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.pipeline import Lemmatizer
    from spacy.tokens import Doc

__all__ = ["SpacyAnnotator", "SpacyLemmas"]

_PIPELINE = "en_core_web_sm"
# The output of these is not used; the lemmatizer's tables are, and they are available anyway.
_UNUSED = ("ner", "attribute_ruler", "lemmatizer")
# The official evaluator replaces a reference with "objects", which current models often take for a verb.
_MASK = "people"
# They do the same if the word itself begins a step. There it is a noun.
_NOUN_TAGS = {("object", "VB"): "NN", ("object", "VBP"): "NN", ("objects", "VBZ"): "NNS"}
_BATCH = 256
# The parser's memory grows with the length, and no real step is nearly this long.
_MOST_CHARACTERS = 5_000


class SpacyAnnotator:
    """Annotates steps with ``en_core_web_sm`` and remembers them, also in a file if one is given.

    The file is read before the first step and written at the end of :meth:`prepare`. It says which pipeline wrote it; a
    file from another pipeline is not used.
    """

    def __init__(self, cache: str | Path | None = None) -> None:
        self._cache = None if cache is None else Path(cache)
        self._known: dict[str, StepAnnotation] | None = None

    def prepare(self, steps: Iterable[str]) -> None:
        """Annotate the steps in batches."""
        known = self._memory()
        new = [step for step in dict.fromkeys(steps) if step not in known and len(step) <= _MOST_CHARACTERS]
        known.update(zip(new, _annotate(new), strict=True))
        if new and self._cache is not None:
            write_annotations(self._cache, known.values(), _pipeline_name())

    def annotate(self, step: str) -> StepAnnotation:
        """The annotation of a step."""
        if len(step) > _MOST_CHARACTERS:
            raise MissingAnnotationError(f"a step of {len(step)} characters is too long to be annotated")
        known = self._memory()
        if step not in known:
            known[step] = next(_annotate([step]))
        return known[step]

    def _memory(self) -> dict[str, StepAnnotation]:
        if self._known is None:
            exists = self._cache is not None and self._cache.exists()
            self._known = read_annotations(self._cache, _pipeline_name()) if self._cache and exists else {}
        return self._known


class SpacyLemmas:
    """The lemmas of plain texts, without masks; they are remembered."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, ...]] = {}

    def prepare(self, texts: Iterable[str]) -> None:
        """Look up the texts in batches."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known and len(text) <= _MOST_CHARACTERS]
        for text, tokens in zip(new, _parse(new, needs_tree=False), strict=True):
            self._known[text] = tuple(token.lemma for token in tokens)

    def lemmas(self, text: str) -> tuple[str, ...]:
        """The lemmas of all tokens, including spaces at the beginning."""
        if len(text) > _MOST_CHARACTERS:
            raise MissingAnnotationError(f"a step of {len(text)} characters is too long to be annotated")
        self.prepare([text])
        return self._known[text]


def _annotate(steps: Sequence[str]) -> Iterator[StepAnnotation]:
    pipeline = _pipeline()
    words = [[token.text for token in pipeline.make_doc(step)] for step in steps]
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
    pipeline = _pipeline()
    unneeded = [] if needs_tree else ["parser"]
    for document in pipeline.pipe(texts, batch_size=_BATCH, disable=unneeded):
        yield tuple(_tokens(document))


def _tokens(document: Doc) -> Iterator[Token]:
    tables = _lemma_tables()
    for token in document:
        word, tag = token.text, _NOUN_TAGS.get((token.lower_, token.tag_), token.tag_)
        yield Token(word, tag, part_of_speech(word, tag), lemma_of(word, tag, tables), token.dep_, token.head.i)


def _pipeline() -> Language:
    return load_spacy(_PIPELINE, disable=_UNUSED)


def _pipeline_name() -> str:
    meta = _pipeline().meta
    return f"{meta['lang']}_{meta['name']} {meta['version']}"


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
