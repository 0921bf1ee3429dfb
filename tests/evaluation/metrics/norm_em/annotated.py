"""Steps annotated by hand, so that the rules can be tested without a parser.

A step is written ``#1 that/WDT are/VBP red/JJ``: word/tag, and if it matters /dependency/head, where the head is a
position. A word without a head is its own.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path

from qdecomp.evaluation.metrics.annotation import (
    MissingAnnotationError,
    SpacyAnnotator,
    StepAnnotation,
    Token,
    step_key,
)
from qdecomp.evaluation.metrics.break_text import BreakText, parse_break_text
from qdecomp.evaluation.metrics.norm_em import NormEm
from qdecomp.evaluation.metrics.norm_em.document import Document, document_of
from qdecomp.evaluation.metrics.penn_words import INFLECTED_CLASSES, LemmaTables, WordTable, lemma_of, part_of_speech

_NO_WORDS_KNOWN = LemmaTables({name: WordTable(frozenset(), {}) for name in INFLECTED_CLASSES})


def annotated(step: str) -> StepAnnotation:
    """The annotation that is written in a step."""
    tokens, references, words = [], [], []
    for position, item in enumerate(step.split()):
        if item.startswith("#"):
            references.append((position, int(item[1:])))
            words.append(f"@@{item[1:]}@@")
            tokens.append(Token("objects", "NNS", "NOUN", "object", "", position))
            continue
        word, tag, dep, head = [*item.split("/"), "", ""][:4]
        words.append(word)
        lemma = lemma_of(word, tag, _NO_WORDS_KNOWN)
        tokens.append(Token(word, tag, part_of_speech(word, tag), lemma, dep, int(head or position)))
    return StepAnnotation(" ".join(words), tuple(tokens), tuple(references))


def document(step: str) -> Document:
    """The words of a step."""
    return document_of(annotated(step))


class FromFile:
    """The annotations in a file, whatever parser wrote it; spaCy annotates steps that it lacks.

    A line is [text, unmasked?, {position: reference}, [[text, tag, pos, lemma, dep, head]]].
    """

    def __init__(self, path: Path) -> None:
        with gzip.open(path, "rt", encoding="utf-8") as stream:
            rows = [json.loads(line) for line in stream]
        self._known = {
            text: StepAnnotation(
                text,
                tuple(Token(*token) for token in tokens),
                tuple((int(place), int(reference.strip("@"))) for place, reference in references.items()),
                masked=not unmasked,
            )
            for text, unmasked, references, tokens in (row for row in rows if isinstance(row, list))
        }
        self._others = SpacyAnnotator()

    def prepare(self, steps: Iterable[str]) -> None:
        """Annotate what the file lacks."""
        self._others.prepare(step for step in steps if step not in self._known)

    def annotate(self, step: str) -> StepAnnotation:
        """The annotation of a step."""
        return self._known[step] if step in self._known else self._others.annotate(step)


class HandMade:
    """An annotator that knows some steps."""

    def __init__(self, annotations: Iterable[StepAnnotation]) -> None:
        self._known = {annotation.text: annotation for annotation in annotations}

    def prepare(self, steps: Iterable[str]) -> None:
        """Nothing to do."""

    def annotate(self, step: str) -> StepAnnotation:
        """The annotation of a step that is known; an empty step always is."""
        if step and step not in self._known:
            raise MissingAnnotationError(step)
        return self._known.get(step, StepAnnotation("", ()))


def plain(steps: Iterable[str]) -> str:
    """The decomposition that the steps are, without the annotations."""
    return " ;".join(
        "return " + " ".join(item if item.startswith("#") else item.split("/")[0] for item in step.split())
        for step in steps
    )


def broken_up(*steps: str) -> tuple[BreakText, HandMade]:
    """A decomposition of annotated steps, and the annotator for it."""
    text = parse_break_text(plain(steps))
    annotations = (annotated(step) for step in steps)
    assert [step_key(label) for label in text.labels] == [annotated(step).text for step in steps]
    return text, HandMade(annotations)


def normal_form(*steps: str) -> str | None:
    """The normal form of annotated steps."""
    text, annotator = broken_up(*steps)
    return NormEm(annotator).normal_form(text)
