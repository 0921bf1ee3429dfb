"""Linguistic annotations of steps: what NormEM needs to know about their words, and files that hold it.

A step is annotated after its references have been masked: ``@@1@@ that are red`` is parsed as ``people that are red``.
The annotations come from spaCy (:mod:`qdecomp.evaluation.metrics.spacy_annotation`) or from a file, which gives the
verdicts of the parser that wrote the file, whatever is installed.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from qdecomp.data_structures.errors import DataError, QDecompError
from qdecomp.evaluation.metrics.break_text import REFERENCE, mention
from qdecomp.files import read_json_lines, write_text_atomically

__all__ = [
    "AnnotationFile",
    "MissingAnnotationError",
    "StepAnnotation",
    "StepAnnotator",
    "Token",
    "annotation_from_json",
    "annotation_to_json",
    "read_annotations",
    "step_key",
    "write_annotations",
]

_LOGGER = logging.getLogger(__name__)


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


def annotation_to_json(annotation: StepAnnotation) -> list[Any]:
    """A line of an annotation file: [text, unmasked?, {position: reference}, [[text, tag, pos, lemma, dep, head]]]."""
    references = {str(position): mention(number) for position, number in annotation.references}
    tokens = [[token.text, token.tag, token.pos, token.lemma, token.dep, token.head] for token in annotation.tokens]
    return [annotation.text, not annotation.masked, references, tokens]


def annotation_from_json(value: Any) -> StepAnnotation:
    """Read what :func:`annotation_to_json` wrote; anything else is a :class:`DataError`."""
    try:
        text, unmasked, references, rows = value
        tokens = tuple(Token(word, tag, pos, lemma, dep, int(head)) for word, tag, pos, lemma, dep, head in rows)
        matches = {int(position): REFERENCE.fullmatch(reference) for position, reference in references.items()}
        numbers = tuple((position, int(match[1])) for position, match in matches.items() if match is not None)
        annotation = StepAnnotation(str(text), tokens, numbers, masked=not unmasked)
    except (TypeError, ValueError, AttributeError, IndexError):
        raise DataError("not an annotated step") from None
    positions = range(len(tokens))
    if len(numbers) != len(matches) or any(position not in positions for position in matches):
        raise DataError("not an annotated step: its references are not its tokens")
    if any(token.head not in positions for token in tokens):
        raise DataError("not an annotated step: a head is not a token")
    return annotation


def read_annotations(path: str | Path, pipeline: str | None = None) -> dict[str, StepAnnotation]:
    """The annotations in a file (JSON lines, possibly compressed as ``.gz``) by the steps' texts.

    With a ``pipeline``, a file is ignored unless its first line says that this pipeline wrote it.
    """
    found: dict[str, StepAnnotation] = {}
    writer = None
    for line, value in read_json_lines(path):
        if line == 1 and isinstance(value, dict):
            writer = value.get("pipeline")
            continue
        if pipeline not in (None, writer):
            return {}
        try:
            annotation = annotation_from_json(value)
        except DataError as error:
            raise DataError(f"{path}: line {line}: {error}") from None
        found[annotation.text] = annotation
    return found


def write_annotations(path: str | Path, annotations: Iterable[StepAnnotation], pipeline: str) -> None:
    """Write a file that :func:`read_annotations` reads, with the name of the pipeline that made the annotations."""
    with write_text_atomically(path) as stream:
        for value in ({"pipeline": pipeline}, *map(annotation_to_json, annotations)):
            stream.write(json.dumps(value, ensure_ascii=False) + "\n")


class AnnotationFile:
    """A :class:`StepAnnotator` that knows the steps in a file and asks another, if there is one, for the rest."""

    def __init__(self, path: str | Path, fallback: StepAnnotator | None = None) -> None:
        self._path = Path(path)
        self._fallback = fallback
        self._annotations = read_annotations(path)

    def prepare(self, steps: Iterable[str]) -> None:
        """Let the other annotator prepare what is not in the file."""
        if self._fallback is None:
            return
        unknown = [step for step in dict.fromkeys(steps) if step not in self._annotations]
        if unknown:
            _LOGGER.warning("%s lacks %d of the steps; spaCy annotates these", self._path, len(unknown))
            self._fallback.prepare(unknown)

    def annotate(self, step: str) -> StepAnnotation:
        """The annotation of a step."""
        known = self._annotations.get(step)
        if known is not None:
            return known
        if self._fallback is None:
            raise MissingAnnotationError(f"{self._path.name} has no annotation of the step {step!r}")
        return self._fallback.annotate(step)
