"""The bundled parser's own cutter of words agrees with the tokenizer that the encoder was trained with."""

import random
import sys
import unicodedata
from pathlib import Path

import pytest

from qdecomp.data_structures.tokenization import tokenize
from qdecomp.files.break_csv import read_break_csv
from qdecomp.parsers.bundle import BUNDLED
from qdecomp.parsers.pieces import WordPieces

_VOCABULARY = BUNDLED / "vocab.txt"
_DATA = Path(__file__).resolve().parents[2] / "data"


def _different(words: set[str]) -> list[str]:
    """The words that the tokenizer and the cutter cut differently."""
    tokenizers = pytest.importorskip("tokenizers")
    ids = {piece: number for number, piece in enumerate(_VOCABULARY.read_text(encoding="utf-8").split("\n")) if piece}
    theirs, ours = tokenizers.BertWordPieceTokenizer(ids, lowercase=True), WordPieces(_VOCABULARY, sys.maxsize)
    # What leaves no piece has an unknown one in the cutter, since each word needs one.
    unknown = (ids["[UNK]"],)
    return [
        word
        for word in sorted(words)
        if ours([word]).ids[1:-1] != (tuple(theirs.encode(word, add_special_tokens=False).ids) or unknown)
    ]


def test_all_words_of_the_questions_in_the_data_have_the_same_pieces() -> None:
    questions = {row.question for file in _DATA.glob("asked_*.csv") for row in read_break_csv(file)}
    words = {word for question in questions for word in tokenize(question)}
    assert len(words) > 10_000
    assert _different(words) == []


def test_texts_of_many_scripts_have_the_same_pieces() -> None:
    choose = random.Random(7)
    scripts = ((0, 0x250), (0x370, 0x400), (0x590, 0x600), (0x900, 0x980), (0x2000, 0x2070), (0x4E00, 0x4E20))
    # Unicode's younger characters are in one table and not yet in the other.
    letters = [
        chr(code) for first, end in (*scripts, (0xAC00, 0xAC40), (0x1F600, 0x1F640)) for code in range(first, end)
    ]
    letters = [letter for letter in letters if unicodedata.category(letter) != "Cn"]
    words = {"".join(choose.choices([*letters, "İ", "Σ", "ẞ"], k=choose.randint(1, 12))) for _ in range(5_000)}
    assert _different(words | {"x" * 100, "x" * 101, "\x00", "\t", "\ufffd", "unaffable"}) == []
