"""Questions as word pieces of the encoder's vocabulary, as :mod:`qdecomp.training.indexer` makes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from qdecomp.data_structures.errors import DataError, QDecompError, missing_extra
from qdecomp.data_structures.tokenization import question_words
from qdecomp.parsers.decomposition import Decomposition, failed_decomposition

# Words of questions recur; this many take a few megabytes.
_MOST_WORDS_REMEMBERED = 50_000
_SPECIAL_PIECES = ("[CLS]", "[SEP]", "[UNK]")


@dataclass(frozen=True, slots=True)
class PieceIds:
    """The pieces of a question with ``[CLS]`` and ``[SEP]``, and the index of each piece's word, below 0 for none."""

    ids: tuple[int, ...]
    words: tuple[int, ...]

    @property
    def word_count(self) -> int:
        """How many words there are."""
        return max(self.words, default=-1) + 1


class WordPieces:
    """Cuts words by a file ``vocab.txt`` with one piece per line."""

    def __init__(self, vocabulary: Path, max_pieces: int) -> None:
        try:
            from tokenizers import BertWordPieceTokenizer
        except ImportError:
            raise missing_extra("the bundled parser", "parser") from None
        try:
            pieces = vocabulary.read_text(encoding="utf-8").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"{vocabulary}: cannot be read ({error})") from None
        ids = {piece: number for number, piece in enumerate(pieces) if piece}
        for token in _SPECIAL_PIECES:
            if token not in ids:
                raise DataError(f"{vocabulary}: there is no {token} in it")
        self._tokenizer = BertWordPieceTokenizer(ids, lowercase=True)
        self._first, self._last, self._unknown = (self._tokenizer.token_to_id(token) for token in _SPECIAL_PIECES)
        self._max_pieces = max_pieces
        self._pieces_of: dict[str, tuple[int, ...]] = {}

    def __call__(self, words: Sequence[str]) -> PieceIds:
        """The pieces of a question; one that is too long for the encoder is a :class:`DataError`."""
        if len(words) + 2 > self._max_pieces:
            raise DataError("the question is too long for the encoder")
        pieces = [self._pieces(word) for word in words]
        ids = (self._first, *(piece for word in pieces for piece in word), self._last)
        if len(ids) > self._max_pieces:
            raise DataError("the question is too long for the encoder")
        numbers = (number for number, word in enumerate(pieces) for _ in word)
        return PieceIds(ids, (-1, *numbers, -1))

    def knows_any(self, words: Sequence[str]) -> bool:
        """Whether a word is a piece itself, as the common words of every English question are."""
        found = (self._pieces(word) for word in words if any(character.isalnum() for character in word))
        return any(len(pieces) == 1 and pieces[0] != self._unknown for pieces in found)

    def _pieces(self, word: str) -> tuple[int, ...]:
        pieces = self._pieces_of.get(word)
        if pieces is None:
            # A word of which the tokenizer leaves nothing, such as a control character, is still a word.
            pieces = tuple(self._tokenizer.encode(word, add_special_tokens=False).ids) or (self._unknown,)
            if len(self._pieces_of) < _MOST_WORDS_REMEMBERED:
                self._pieces_of[word] = pieces
        return pieces


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
            if not word_pieces.knows_any(words):
                raise DataError("not a question in English: none of its words is known")
        except QDecompError as error:
            ready.failed[number] = failed_decomposition(question, error)
            continue
        ready.words[number] = words
        ready.pieces.append(pieces)
    return ready
