"""Words as word pieces of a pretrained encoder, with a note of which word each piece belongs to.

BERT, MPNet and ELECTRA know a word without the space before it, RoBERTa and DeBERTa know it with the space; some
distinguish two parts of a text by a type, others by a second separator.
"""

# AllenNLP reads the annotations of constructors, so they may not be postponed.

from collections.abc import Sequence
from typing import Any

import torch
from allennlp.data.token_indexers.token_indexer import IndexedTokenList, TokenIndexer
from allennlp.data.tokenizers import Token
from allennlp.data.vocabulary import Vocabulary

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.special_tokens import SpecialTokens, special_tokens_of
from qdecomp.training.pretrained import load_pretrained

NO_WORD = -1
"""The word of a piece that belongs to none, such as ``[CLS]``."""

MAX_PIECES = 512
"""How many pieces BERT and similar encoders have positions for."""

# Placeholders for two texts, which no tokenizer has a piece for.
_FIRST, _SECOND = -1, -2

_SUITABLE = "BERT, MPNet, RoBERTa, DeBERTa and ELECTRA can be used"
_UNUSED_PIECES = 1000


@TokenIndexer.register("word_pieces")
class WordPieceIndexer(TokenIndexer):
    """Pieces of each word; for BERT, in the order ``[CLS]`` question ``[SEP]`` special tokens ``[SEP]``.

    ``encoder`` is a name for :func:`qdecomp.training.pretrained.encoder_path`. ``special_tokens``, if there are any, go
    through the encoder with every question. The tensors are, for each piece: ``ids``, ``types`` (1 for special tokens),
    ``mask``, and ``words``, the number of the word in *model order*: the special tokens come first, then the words of
    the question. So what is appended has the same place in every question of a batch, and padding is at the end.
    """

    def __init__(self, encoder: str, special_tokens: str | dict[str, Any] | None = None) -> None:
        super().__init__()
        special = special_tokens_of(special_tokens)
        # Loaded now, so that a missing or unusable encoder is one error and not one for every row.
        self._tokenizer, config = (load_pretrained(kind, encoder) for kind in ("AutoTokenizer", "AutoConfig"))
        self._frame = _frame(encoder, self._tokenizer, config)
        self._padding: int = self._tokenizer.pad_token_id or 0
        self._spaces_matter = self._encode(" a") != self._encode("a")
        self._pieces_of: dict[tuple[str, bool], list[int]] = {}
        self.special, self.added = self._special_pieces(special, config.vocab_size)
        self._max_pieces = min(MAX_PIECES, _positions(config))

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
        before, behind, between, behind_both = self._frame
        pieces = [self.of_word(word, is_first=number == 0) for number, word in enumerate(words)]
        count = len(self.special)
        rows = [(before, NO_WORD), *zip(pieces, range(count, count + len(words)), strict=True)]
        first_part = len(rows) + 1
        if self.special:
            rows += [(between, NO_WORD), *zip(self.special, range(count), strict=True), (behind_both, NO_WORD)]
        else:
            rows.append((behind, NO_WORD))
        ids = [piece for row, _ in rows for piece in row]
        types = [int(number >= first_part) for number, (row, _) in enumerate(rows) for _ in row]
        numbers = [word for row, word in rows for _ in row]
        return {"ids": ids, "words": numbers, "types": types, "mask": [True] * len(ids)}

    def get_empty_token_list(self) -> IndexedTokenList:
        """No pieces."""
        return {"ids": [], "words": [], "types": [], "mask": []}

    def as_padded_tensor_dict(
        self, tokens: IndexedTokenList, padding_lengths: dict[str, int]
    ) -> dict[str, torch.Tensor]:
        """One tensor for each list, padded at its end."""
        padding = {"ids": self._padding, "words": NO_WORD, "types": 0, "mask": False}
        return {
            name: torch.tensor(values + [padding[name]] * (padding_lengths[name] - len(values)))
            for name, values in tokens.items()
        }

    def of_word(self, word: str, *, is_first: bool = False) -> list[int]:
        """The pieces of a word; there is a space before it unless it is the first of its text."""
        key = (word, is_first)
        if key not in self._pieces_of:
            text = f" {word}" if self._spaces_matter and not is_first else word
            # A word of which the tokenizer leaves nothing, such as a control character, is still a word.
            unknown = self._tokenizer.unk_token_id
            self._pieces_of[key] = self._encode(text) or [self._padding if unknown is None else unknown]
        return self._pieces_of[key]

    def _encode(self, text: str) -> list[int]:
        pieces: list[int] = self._tokenizer.encode(text, add_special_tokens=False)
        return pieces

    def _special_pieces(self, special: SpecialTokens | None, size: int) -> tuple[list[list[int]], int]:
        """The pieces of each special token, and how many of them need a new row in the encoder.

        Resource words are ordinary words. Each of the others takes one of the encoder's unused pieces, if it has one.
        """
        if special is None:
            return [], 0
        known = self._tokenizer.get_vocab()
        unused = [known[name] for number in range(_UNUSED_PIECES) if (name := f"[unused{number}]") in known]
        new = [token for token in special.appended if token not in special.resources]
        free = iter([*unused, *range(size, size + len(new))])
        pieces = [self.of_word(token) if token in special.resources else [next(free)] for token in special.appended]
        return pieces, max(0, len(new) - len(unused))


def _frame(encoder: str, tokenizer: Any, config: Any) -> tuple[list[int], ...]:
    """What an encoder expects before a text, after it, and between and after two of them."""
    one, both = (tokenizer.build_inputs_with_special_tokens(*texts) for texts in ([[_FIRST]], [[_FIRST], [_SECOND]]))
    first, second = both.index(_FIRST), both.index(_SECOND)
    behind, between = one[one.index(_FIRST) + 1 :], both[first + 1 : second]
    if config.is_encoder_decoder or not behind or not between:
        raise DataError(f"encoder {encoder!r}: a {config.model_type} is not made to encode text; {_SUITABLE}")
    return one[: one.index(_FIRST)], behind, between, both[second + 1 :]


def _positions(config: Any) -> int:
    """How many pieces the encoder has positions for, by default as many as BERT."""
    positions: int = getattr(config, "max_position_embeddings", None) or MAX_PIECES
    if config.model_type in {"roberta", "xlm-roberta", "camembert", "mpnet"}:
        # They count positions from the one after padding.
        return positions - (config.pad_token_id or 0) - 1
    return positions
