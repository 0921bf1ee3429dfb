"""How a pretrained encoder expects its text: the pieces of words and of special tokens, and what is around them.

Encoders differ. BERT, MPNet and ELECTRA know a word without the space before it, RoBERTa and DeBERTa know it with the
space; the former have unused pieces, which special tokens can take; some distinguish two parts of a text by a type,
others by a second separator. Importing this module loads neither torch nor transformers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.special_tokens import SpecialTokens
from qdecomp.training.pretrained import encoder_path

__all__ = ["EncoderPieces", "added_piece_count"]

# Placeholders for two texts, which no tokenizer has a piece for.
_FIRST, _SECOND = -1, -2
_SUITABLE = "BERT, MPNet, RoBERTa, DeBERTa and ELECTRA can be used"
_UNUSED_PIECES = 1000


@dataclass(frozen=True, slots=True)
class _Frame:
    """What an encoder expects before a text, after it, and between and after two of them."""

    before: list[int]
    behind: list[int]
    between: list[int]
    behind_both: list[int]


class EncoderPieces:
    """The pieces of the encoder with this name; one that cannot read a question is a :class:`DataError`.

    ``special`` are the special tokens that go through the encoder with every question, or None.
    """

    def __init__(self, encoder: str, special: SpecialTokens | None = None) -> None:
        self._tokenizer, config = _load(encoder)
        self.frame = _frame(encoder, self._tokenizer, config)
        self.padding: int = self._tokenizer.pad_token_id or 0
        self.positions = _positions(config)
        self._spaces_matter = self._encode(" a") != self._encode("a")
        self._pieces_of: dict[tuple[str, bool], list[int]] = {}
        self.special, self.added = self._special_pieces(special, config.vocab_size)

    def of_word(self, word: str, *, is_first: bool = False) -> list[int]:
        """The pieces of a word; there is a space before it unless it is the first of its text."""
        key = (word, is_first)
        pieces = self._pieces_of.get(key)
        if pieces is None:
            text = f" {word}" if self._spaces_matter and not is_first else word
            # A word of which the tokenizer leaves nothing, such as a control character, is still a word.
            pieces = self._encode(text) or [self._nothing]
            self._pieces_of[key] = pieces
        return pieces

    @property
    def _nothing(self) -> int:
        unknown: int | None = self._tokenizer.unk_token_id
        return self.padding if unknown is None else unknown

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


def added_piece_count(encoder: str, special: SpecialTokens | None) -> int:
    """How many embeddings the encoder needs in addition to its own for these special tokens."""
    return EncoderPieces(encoder, special).added if special else 0


def _load(encoder: str) -> tuple[Any, Any]:
    from transformers import AutoConfig, AutoTokenizer

    path = encoder_path(encoder)
    try:
        # Not left to the default, which asks on a terminal whether to run code that comes with the files.
        tokenizer = AutoTokenizer.from_pretrained(path, trust_remote_code=False)
        return tokenizer, AutoConfig.from_pretrained(path, trust_remote_code=False)
    # No common base class: missing or broken files, missing packages, unknown kinds of models.
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise DataError(f"encoder {encoder!r}: its tokenizer cannot be loaded ({reason})") from None


def _frame(encoder: str, tokenizer: Any, config: Any) -> _Frame:
    one, both = (tokenizer.build_inputs_with_special_tokens(*texts) for texts in ([[_FIRST]], [[_FIRST], [_SECOND]]))
    first, second = both.index(_FIRST), both.index(_SECOND)
    frame = _Frame(one[: one.index(_FIRST)], one[one.index(_FIRST) + 1 :], both[first + 1 : second], both[second + 1 :])
    if config.is_encoder_decoder or not frame.behind or not frame.between:
        raise DataError(f"encoder {encoder!r}: a {config.model_type} is not made to encode text; {_SUITABLE}")
    return frame


def _positions(config: Any) -> int | None:
    """How many pieces the encoder has positions for; None if it does not say."""
    positions: int | None = getattr(config, "max_position_embeddings", None)
    if positions is not None and config.model_type in {"roberta", "xlm-roberta", "camembert", "mpnet"}:
        # They count positions from the one after padding.
        return positions - (config.pad_token_id or 0) - 1
    return positions
