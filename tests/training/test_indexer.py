"""Each kind of encoder gets words, special tokens and marks as it expects them."""

from __future__ import annotations

from pathlib import Path

import pytest
from allennlp.data import Token, Vocabulary

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.special_tokens import PRESETS
from qdecomp.training.indexer import NO_WORD, WordPieceIndexer
from tests.encoders import ENCODERS, NO_ENCODERS


def _indices(indexer: WordPieceIndexer, words: list[str]) -> dict[str, list[int]]:
    return indexer.tokens_to_indices([Token(word) for word in words], Vocabulary())


def test_pieces_know_their_words(tiny_encoder: Path) -> None:
    indices = _indices(WordPieceIndexer(str(tiny_encoder)), ["how", "zq", "?"])
    assert indices["words"] == [NO_WORD, 0, 1, 1, 2, NO_WORD]
    assert set(indices["types"]) == {0}
    assert len(set(map(len, indices.values()))) == 1


def test_a_word_of_nothing_is_still_a_word(tiny_encoder: Path) -> None:
    assert _indices(WordPieceIndexer(str(tiny_encoder)), ["\u200b", "how"])["words"] == [NO_WORD, 0, 1, NO_WORD]


TOKENS = PRESETS["paper"]
# [RSC] and ten placeholders each need their own piece.
PLACEHOLDERS = 1 + TOKENS.duplicates + TOKENS.dummies


@pytest.fixture(scope="module", params=ENCODERS)
def encoder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp(request.param)
    ENCODERS[request.param](folder)
    return str(folder)


def _tokenizer(encoder: str) -> object:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(encoder)


def test_a_question_is_cut_as_its_own_tokenizer_cuts_it(encoder: str) -> None:
    words = ["how", "many", "red", "cubes"]
    indices = WordPieceIndexer(encoder).tokens_to_indices([Token(word) for word in words], Vocabulary())
    assert indices["ids"] == _tokenizer(encoder)(" ".join(words))["input_ids"]  # type: ignore[operator]


def test_two_texts_stand_as_the_tokenizer_puts_them(encoder: str) -> None:
    tokenizer = _tokenizer(encoder)
    indexer = WordPieceIndexer(encoder, special_tokens={"resources": ["size"], "duplicates": 0, "dummies": 0})
    indices = indexer.tokens_to_indices([Token("how"), Token("many")], Vocabulary())
    separator, *size = (indices["ids"][indices["words"].index(number)] for number in (0, 1))
    question = tokenizer.encode("how many", add_special_tokens=False)  # type: ignore[attr-defined]
    assert indices["ids"] == tokenizer.build_inputs_with_special_tokens(  # type: ignore[attr-defined]
        question, [separator, *WordPieceIndexer(encoder).of_word("size")]
    )
    assert size[0] == WordPieceIndexer(encoder).of_word("size")[0]


def test_words_know_their_pieces_and_special_tokens_come_first(encoder: str) -> None:
    indices = WordPieceIndexer(encoder, "paper").tokens_to_indices([Token("how"), Token("zq")], Vocabulary())
    count = len(TOKENS.appended)
    assert set(indices["words"]) == {NO_WORD, *range(count + 2)}
    assert len({len(values) for values in indices.values()}) == 1
    assert indices["words"][:2] == [NO_WORD, count]
    boundary = indices["words"].index(0)
    assert set(indices["types"][:boundary]) == {0}
    assert set(indices["types"][boundary:]) == {1}


def test_each_placeholder_has_a_piece_of_its_own_which_no_word_has(encoder: str) -> None:
    pieces = WordPieceIndexer(encoder, "paper")
    resources = set(TOKENS.resources)
    own = [piece for (piece, *_), token in zip(pieces.special, TOKENS.appended, strict=True) if token not in resources]
    assert len(own) == len(set(own)) == PLACEHOLDERS
    size = len(_tokenizer(encoder))  # type: ignore[arg-type]
    assert sum(piece >= size for piece in own) == pieces.added


def test_unused_pieces_are_taken_before_new_ones_are_made(tmp_path: Path) -> None:
    expected = {"bert": 0, "electra": PLACEHOLDERS, "mpnet": PLACEHOLDERS - 4, "roberta": PLACEHOLDERS}
    for name, added in expected.items():
        (tmp_path / name).mkdir()
        ENCODERS[name](tmp_path / name)
        assert WordPieceIndexer(str(tmp_path / name), "paper").added == added
    assert WordPieceIndexer(str(tmp_path / "bert")).added == 0


def test_what_is_longer_than_the_encoders_positions_is_too_long(tmp_path: Path) -> None:
    ENCODERS["roberta"](tmp_path)
    indexer = WordPieceIndexer(str(tmp_path))
    # 130 positions, of which two stand before those of the text, and two marks.
    assert not indexer.is_too_long(["cubes"] * 120)
    assert indexer.is_too_long(["cubes"] * 127)
    assert indexer.is_too_long(["cubes"] * 100_000)
    assert indexer.is_too_long(["zqzqz"] * 60), "pieces are counted, not words"


@pytest.mark.parametrize("name", NO_ENCODERS)
def test_what_cannot_encode_is_one_line(name: str, tmp_path: Path) -> None:
    NO_ENCODERS[name](tmp_path)
    with pytest.raises(DataError) as refusal:
        WordPieceIndexer(str(tmp_path))
    assert str(tmp_path) in str(refusal.value)
    assert "\n" not in str(refusal.value)
    reason = {"gpt2": "a gpt2 is not made to encode text; BERT", "unknown": "cannot be loaded"}
    assert reason[name] in str(refusal.value)
