"""Prepares questions for the networks, and refuses what cannot be a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from qdecomp.data_structures.errors import QDecompError
from qdecomp.data_structures.tokenization import question_words
from qdecomp.parsers.decomposition import Decomposition, failed_decomposition
from qdecomp.parsers.word_pieces import PieceIds, WordPieces

__all__ = ["ReadyQuestions", "make_ready"]


@dataclass(frozen=True, slots=True)
class ReadyQuestions:
    """The questions of a batch by index: words and pieces of those that can be parsed, a prediction for the others."""

    words: dict[int, tuple[str, ...]] = field(default_factory=dict)
    pieces: list[PieceIds] = field(default_factory=list)
    failed: dict[int, Decomposition] = field(default_factory=dict)

    def with_answers(self, answers: Sequence[Decomposition]) -> list[Decomposition]:
        """The predictions of all questions in order, given those of the parsed ones."""
        found = self.failed | dict(zip(self.words, answers, strict=True))
        return [found[number] for number in range(len(found))]


def make_ready(questions: Sequence[str], word_pieces: WordPieces) -> ReadyQuestions:
    """Split questions into words and pieces; what cannot be split says why."""
    ready = ReadyQuestions()
    for number, question in enumerate(questions):
        try:
            words = question_words(question)
            pieces = word_pieces(words)
        except QDecompError as error:
            ready.failed[number] = failed_decomposition(question, error)
            continue
        ready.words[number] = words
        ready.pieces.append(pieces)
    return ready
