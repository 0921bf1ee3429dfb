"""Words as word pieces of a pretrained encoder, with a note of which word each piece belongs to."""

# AllenNLP reads the annotations of constructors, so they may not be postponed.

from functools import cached_property
from typing import Any

import torch
from allennlp.data.token_indexers.token_indexer import IndexedTokenList, TokenIndexer
from allennlp.data.tokenizers import Token
from allennlp.data.vocabulary import Vocabulary

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.special_tokens import special_tokens_of
from qdecomp.files.pretrained import encoder_path

__all__ = ["MAX_PIECES", "NO_WORD", "WordPieceIndexer"]

NO_WORD = -1
"""The word of a piece that belongs to none, such as ``[CLS]``."""

MAX_PIECES = 512
"""How many pieces BERT and its like have positions for."""


@TokenIndexer.register("word_pieces")
class WordPieceIndexer(TokenIndexer):
    """Pieces of each word, in the order ``[CLS]`` question ``[SEP]`` special tokens ``[SEP]``.

    ``encoder`` is a name for :func:`qdecomp.files.pretrained.encoder_path`. ``special_tokens`` are named as for
    :func:`~qdecomp.data_structures.special_tokens.special_tokens_of`. They go through the encoder with every
    question; without them, only the question does.

    The tensors are, for each piece: ``ids``, ``types`` (1 for special tokens), ``mask``, and ``words``, the number of
    the word in *model order*: the special tokens come first, then the words of the question. So what is appended has
    the same place in every question of a batch, and padding is at the end.
    """

    def __init__(
        self, encoder: str, special_tokens: str | dict[str, Any] | None = None, max_pieces: int = MAX_PIECES
    ) -> None:
        super().__init__()
        self._encoder = encoder
        # Looked for now, so that a missing encoder is one error and not one of every row.
        self._path = encoder_path(encoder)
        self._special = special_tokens_of(special_tokens)
        self._max_pieces = max_pieces
        self._pieces_of: dict[str, list[int]] = {}

    @cached_property
    def _tokenizer(self) -> Any:
        from transformers import AutoTokenizer

        return AutoTokenizer.from_pretrained(self._path)

    @cached_property
    def _special_pieces(self) -> list[list[int]]:
        """Resource words are ordinary words; each of the others takes one of the pieces that BERT never used."""
        if self._special is None:
            return []
        known = self._tokenizer.get_vocab()
        unused = [known[name] for number in range(1000) if (name := f"[unused{number}]") in known]
        pieces = []
        for token in self._special.appended:
            if token not in self._special.resources and not unused:
                raise DataError(
                    f"encoder {self._encoder!r} has no piece left for {token}; embed special tokens outside"
                )
            pieces.append(self._pieces(token) if token in self._special.resources else [unused.pop(0)])
        return pieces

    def _pieces(self, word: str) -> list[int]:
        pieces = self._pieces_of.get(word)
        if pieces is None:
            # A word that the tokenizer leaves nothing of, such as a control character, is still a word.
            pieces = self._tokenizer.encode(word, add_special_tokens=False) or [self._tokenizer.unk_token_id]
            self._pieces_of[word] = pieces
        return pieces

    def is_too_long(self, words: list[str]) -> bool:
        """Whether the encoder has no position for all pieces of these words."""
        special = sum(map(len, self._special_pieces)) + 1 if self._special else 0
        room = self._max_pieces - 2 - special
        return len(words) > room or sum(len(self._pieces(word)) for word in words) > room

    def count_vocab_items(self, token: Token, counter: dict[str, dict[str, int]]) -> None:
        """Nothing: the encoder has a vocabulary of its own."""

    def tokens_to_indices(self, tokens: list[Token], vocabulary: Vocabulary) -> IndexedTokenList:
        """The pieces of all tokens."""
        tokenizer, offset = self._tokenizer, len(self._special_pieces)
        ids, words = [tokenizer.cls_token_id], [NO_WORD]
        for number, token in enumerate(tokens):
            pieces = self._pieces(token.text or "")
            ids.extend(pieces)
            words.extend([offset + number] * len(pieces))
        ids.append(tokenizer.sep_token_id)
        words.append(NO_WORD)
        types = [0] * len(ids)
        for number, pieces in enumerate(self._special_pieces):
            ids.extend(pieces)
            words.extend([number] * len(pieces))
        if offset:
            ids.append(tokenizer.sep_token_id)
            words.append(NO_WORD)
        types.extend([1] * (len(ids) - len(types)))
        return {"ids": ids, "words": words, "types": types, "mask": [True] * len(ids)}

    def get_empty_token_list(self) -> IndexedTokenList:
        """No pieces."""
        return {"ids": [], "words": [], "types": [], "mask": []}

    def as_padded_tensor_dict(
        self, tokens: IndexedTokenList, padding_lengths: dict[str, int]
    ) -> dict[str, torch.Tensor]:
        """One tensor for each list, padded at its end."""
        padding = {"ids": self._tokenizer.pad_token_id or 0, "words": NO_WORD, "types": 0, "mask": False}
        return {
            name: torch.tensor(values + [padding[name]] * (padding_lengths[name] - len(values)))
            for name, values in tokens.items()
        }

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WordPieceIndexer):
            return NotImplemented
        mine, others = ((indexer._encoder, indexer._special, indexer._max_pieces) for indexer in (self, other))
        return mine == others

    __hash__ = object.__hash__
