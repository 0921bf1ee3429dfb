"""Questions as word pieces of the encoder's vocabulary, as :mod:`qdecomp.training.indexer` makes them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from qdecomp.data_structures.errors import DataError, QDecompError
from qdecomp.data_structures.tokenization import question_words
from qdecomp.parsers.decomposition import Decomposition, failed_decomposition

_SPECIAL_PIECES = ("[CLS]", "[SEP]", "[UNK]")
# A longer part of a word is unknown.
_LONGEST_PART = 100
_CONTROL = frozenset({"Cc", "Cf", "Co", "Cs"})
# The blocks of ideographs, as BERT counts them.
_CHINESE = re.compile(
    "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002b73f\U0002b740-\U0002b81f"
    "\U0002b920-\U0002ceaf\U0002f800-\U0002fa1f]"
)


class PieceIds(NamedTuple):
    """The pieces of a question with ``[CLS]`` and ``[SEP]``, and the index of each piece's word, below 0 for none."""

    ids: tuple[int, ...]
    words: tuple[int, ...]

    @property
    def word_count(self) -> int:
        """How many words there are."""
        return max(self.words, default=-1) + 1


class WordPieces:
    """Cuts words by a file ``vocab.txt`` with one piece per line, as BERT's tokenizer for lower case does."""

    def __init__(self, vocabulary: Path, max_pieces: int) -> None:
        try:
            pieces = vocabulary.read_text(encoding="utf-8").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"{vocabulary}: cannot be read ({error})") from None
        self._ids = {piece: number for number, piece in enumerate(pieces) if piece}
        for token in _SPECIAL_PIECES:
            if token not in self._ids:
                raise DataError(f"{vocabulary}: there is no {token} in it")
        self._first, self._last, self._unknown = (self._ids[token] for token in _SPECIAL_PIECES)
        self._max_pieces = max_pieces
        # Words of questions recur; this many take a few megabytes.
        self._pieces = lru_cache(maxsize=50_000)(self._cut)

    def __call__(self, words: Sequence[str]) -> PieceIds:
        """The pieces of a question; one that is too long for the encoder is a :class:`DataError`."""
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

    def _cut(self, word: str) -> tuple[int, ...]:
        found = (piece for part in _parts(word) for piece in _longest_pieces(part, self._ids, self._unknown))
        # A word of which nothing is left, such as a control character, is still a word.
        return tuple(found) or (self._unknown,)


def _parts(word: str) -> list[str]:
    """A word in lower case and without accents, cut around each punctuation mark and each Chinese character.

    >>> _parts("Café-Bar"), _parts("東京")
    (['cafe', '-', 'bar'], ['東', '京'])
    """
    if word.isascii() and word.isalnum():
        return [word.lower()]
    kept = _CHINESE.sub(r" \g<0> ", "".join(each for each in word if not _is_control(each)))
    # Letter by letter: in lower case, a Greek word may end with a letter of its own.
    letters = (each.lower() for each in unicodedata.normalize("NFD", kept) if unicodedata.category(each) != "Mn")
    return "".join(f" {each} " if _is_punctuation(each) else each for each in "".join(letters)).split()


def _is_control(character: str) -> bool:
    return character == "\ufffd" or (character not in "\t\n\r" and unicodedata.category(character) in _CONTROL)


def _is_punctuation(character: str) -> bool:
    """Also the ASCII symbols that Unicode does not count as punctuation, such as ``$``."""
    if character.isascii():
        return character.isprintable() and not character.isalnum() and character != " "
    return unicodedata.category(character).startswith("P")


def _longest_pieces(part: str, ids: Mapping[str, int], unknown: int) -> list[int]:
    """From left to right the longest pieces, of which all but the first are written with ``##``."""
    if len(part) > _LONGEST_PART:
        return [unknown]
    found: list[int] = []
    start, mark = 0, ""
    while start < len(part):
        fits = ((end, ids.get(mark + part[start:end])) for end in range(len(part), start, -1))
        end, piece = next((fit for fit in fits if fit[1] is not None), (0, None))
        if piece is None:
            return [unknown]
        found.append(piece)
        start, mark = end, "##"
    return found


class Asked(NamedTuple):
    """A question that can be parsed, with its words and pieces."""

    question: str
    words: tuple[str, ...]
    pieces: PieceIds


def asked(question: str, word_pieces: WordPieces) -> Asked | Decomposition:
    """The question as words and pieces, or why it cannot be parsed."""
    try:
        words = question_words(question)
        found = Asked(question, words, word_pieces(words))
        if not word_pieces.knows_any(words):
            raise DataError("not a question in English: none of its words is known")
    except QDecompError as error:
        return failed_decomposition(question, error)
    return found


def answers_of(
    questions: Sequence[str], word_pieces: WordPieces, parse: Callable[[list[Asked]], Iterable[Decomposition]]
) -> list[Decomposition]:
    """The answers of a batch: those that ``parse`` gives, and why the other questions cannot be parsed."""
    ready = [asked(question, word_pieces) for question in questions]
    answers = iter(parse([each for each in ready if isinstance(each, Asked)]))
    return [next(answers) if isinstance(each, Asked) else each for each in ready]
