"""Words as word pieces of a pretrained encoder, with a note of which word each piece belongs to."""

# AllenNLP reads the annotations of constructors, so they may not be postponed.

from collections.abc import Sequence
from typing import Any

import torch
from allennlp.data.token_indexers.token_indexer import IndexedTokenList, TokenIndexer
from allennlp.data.tokenizers import Token
from allennlp.data.vocabulary import Vocabulary

from qdecomp.data_structures.special_tokens import special_tokens_of
from qdecomp.training.encoder_pieces import EncoderPieces

__all__ = ["MAX_PIECES", "NO_WORD", "WordPieceIndexer"]

NO_WORD = -1
"""The word of a piece that belongs to none, such as ``[CLS]``."""

MAX_PIECES = 512
"""How many pieces BERT and similar encoders have positions for."""


@TokenIndexer.register("word_pieces")
class WordPieceIndexer(TokenIndexer):
    """Pieces of each word; for BERT, in the order ``[CLS]`` question ``[SEP]`` special tokens ``[SEP]``.

    ``encoder`` is a name for :func:`qdecomp.training.pretrained.encoder_path`. ``special_tokens`` are named
    as for :func:`~qdecomp.data_structures.special_tokens.special_tokens_of`. They go through the encoder with every
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
        self._special = special_tokens_of(special_tokens)
        # Loaded now, so that a missing or unusable encoder is one error and not one for every row.
        self._pieces = EncoderPieces(encoder, self._special)
        self._max_pieces = min(max_pieces, self._pieces.positions or max_pieces)

    def is_too_long(self, words: list[str]) -> bool:
        """Whether the encoder has no position for all pieces of these words."""
        # Each word has at least one piece, so most of a text that is far too long need not be cut into pieces.
        return len(words) > self._max_pieces or len(self._indices(words)["ids"]) > self._max_pieces

    def count_vocab_items(self, token: Token, counter: dict[str, dict[str, int]]) -> None:
        """Nothing: the encoder has its own vocabulary."""

    def tokens_to_indices(self, tokens: list[Token], vocabulary: Vocabulary) -> IndexedTokenList:
        """The pieces of all tokens."""
        return self._indices([token.text or "" for token in tokens])

    def _indices(self, words: Sequence[str]) -> IndexedTokenList:
        frame, special = self._pieces.frame, self._pieces.special
        pieces = [self._pieces.of_word(word, is_first=number == 0) for number, word in enumerate(words)]
        rows = [(frame.before, NO_WORD), *zip(pieces, range(len(special), len(special) + len(words)), strict=True)]
        first_part = len(rows) + 1
        if special:
            rows += [
                (frame.between, NO_WORD),
                *zip(special, range(len(special)), strict=True),
                (frame.behind_both, NO_WORD),
            ]
        else:
            rows.append((frame.behind, NO_WORD))
        ids = [piece for row, _ in rows for piece in row]
        types = [int(number >= first_part) for number, (row, _) in enumerate(rows) for _ in row]
        return {
            "ids": ids,
            "words": [word for row, word in rows for _ in row],
            "types": types,
            "mask": [True] * len(ids),
        }

    def get_empty_token_list(self) -> IndexedTokenList:
        """No pieces."""
        return {"ids": [], "words": [], "types": [], "mask": []}

    def as_padded_tensor_dict(
        self, tokens: IndexedTokenList, padding_lengths: dict[str, int]
    ) -> dict[str, torch.Tensor]:
        """One tensor for each list, padded at its end."""
        padding = {"ids": self._pieces.padding, "words": NO_WORD, "types": 0, "mask": False}
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
