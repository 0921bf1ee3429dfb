from __future__ import annotations

from pathlib import Path

import pytest
from allennlp.data import Token, Vocabulary

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.special_tokens import PRESETS, special_tokens_of
from qdecomp.training.indexer import NO_WORD, WordPieceIndexer

SPECIAL = PRESETS["paper"].appended


def _indices(indexer: WordPieceIndexer, words: list[str]) -> dict[str, list[int]]:
    return indexer.tokens_to_indices([Token(word) for word in words], Vocabulary())


def test_pieces_know_their_words(tiny_encoder: Path) -> None:
    indices = _indices(WordPieceIndexer(str(tiny_encoder)), ["how", "zq", "?"])
    assert indices["words"] == [NO_WORD, 0, 1, 1, 2, NO_WORD]
    assert set(indices["types"]) == {0}
    assert len(set(map(len, indices.values()))) == 1


def test_special_tokens_come_behind_the_question_but_have_the_first_numbers(tiny_encoder: Path) -> None:
    indices = _indices(WordPieceIndexer(str(tiny_encoder), special_tokens="paper"), ["how", "many"])
    assert indices["words"][:4] == [NO_WORD, len(SPECIAL), len(SPECIAL) + 1, NO_WORD]
    assert sorted(set(indices["words"][4:-1])) == list(range(len(SPECIAL)))
    assert indices["types"][:4] == [0] * 4
    assert set(indices["types"][4:]) == {1}


def test_each_placeholder_has_a_piece_of_its_own(tiny_encoder: Path) -> None:
    indices = _indices(WordPieceIndexer(str(tiny_encoder), special_tokens="paper"), ["how"])
    resources = set(PRESETS["paper"].resources)
    placeholders = {number for number, token in enumerate(SPECIAL) if token not in resources}
    ids = [piece for piece, word in zip(indices["ids"], indices["words"], strict=True) if word in placeholders]
    assert len(ids) == len(set(ids)) == len(placeholders)


def test_a_word_of_nothing_is_still_a_word(tiny_encoder: Path) -> None:
    assert _indices(WordPieceIndexer(str(tiny_encoder)), ["\u200b", "how"])["words"] == [NO_WORD, 0, 1, NO_WORD]


def test_padding_is_masked(tiny_encoder: Path) -> None:
    indexer = WordPieceIndexer(str(tiny_encoder))
    tensors = indexer.as_padded_tensor_dict(
        _indices(indexer, ["how"]), dict.fromkeys(("ids", "words", "types", "mask"), 5)
    )
    assert tensors["mask"].tolist() == [True, True, True, False, False]
    assert tensors["words"].tolist() == [NO_WORD, 0, NO_WORD, NO_WORD, NO_WORD]


def test_what_is_too_long(tiny_encoder: Path) -> None:
    indexer = WordPieceIndexer(str(tiny_encoder), max_pieces=5)
    assert not indexer.is_too_long(["how"] * 3)
    assert indexer.is_too_long(["how"] * 4)
    assert indexer.is_too_long(["how", "zqz"])


def test_unknown_special_tokens_are_named(tiny_encoder: Path) -> None:
    with pytest.raises(DataError, match="'papers'; choose from paper"):
        WordPieceIndexer(str(tiny_encoder), special_tokens="papers")


def test_special_tokens_can_be_spelled_out() -> None:
    value = {"resources": ["size"], "duplicates": 1, "dummies": 2}
    special = special_tokens_of(value)
    assert special is not None
    assert special.appended == ("[RSC]", "size", "[DUP]", "[DUM]", "[DUM]")
    assert special_tokens_of(None) is None
    with pytest.raises(DataError, match="resources, duplicates and dummies"):
        special_tokens_of({"resources": ["size"], "copies": 1})
