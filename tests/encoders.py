"""Tiny encoders with random weights, one of each usable kind; their tokenizers differ as real ones do."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

WORDS = ("how", "many", "red", "cubes", "are", "there", "?", "size", "flights", "number")
_SIZE = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789?"


def _word_pieces(folder: Path, marks: tuple[str, ...], unused: int) -> int:
    pieces = [*marks, *(f"[unused{number}]" for number in range(unused))]
    pieces += dict.fromkeys([*_LETTERS, *(f"##{letter}" for letter in _LETTERS), *WORDS])
    (folder / "vocab.txt").write_text("\n".join(pieces), encoding="utf-8")
    return len(pieces)


def _byte_pairs(folder: Path, marks: tuple[str, ...]) -> int:
    """A vocabulary in which a word with the space before it is one piece, and a word without is several."""
    from tokenizers import ByteLevelBPETokenizer

    tokenizer = ByteLevelBPETokenizer(add_prefix_space=False)
    tokenizer.train_from_iterator(
        [" ".join(("", *WORDS))] * 9, vocab_size=900, min_frequency=2, special_tokens=[*marks]
    )
    tokenizer.save_model(str(folder))
    return int(tokenizer.get_vocab_size())


def bert(folder: Path) -> None:
    """BERT: the one that all others are compared with."""
    from transformers import BertConfig, BertModel, BertTokenizer

    size = _word_pieces(folder, ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"), unused=20)
    BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    BertModel(BertConfig(vocab_size=size, **_SIZE)).save_pretrained(folder)


def electra(folder: Path) -> None:
    """ELECTRA: like BERT, with embeddings of another size, here without unused pieces."""
    from transformers import ElectraConfig, ElectraModel, ElectraTokenizer

    size = _word_pieces(folder, ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"), unused=0)
    ElectraTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    ElectraModel(ElectraConfig(vocab_size=size, embedding_size=16, **_SIZE)).save_pretrained(folder)


def mpnet(folder: Path) -> None:
    """MPNet: other marks, two separators between texts, no types, positions that begin after padding."""
    from transformers import MPNetConfig, MPNetModel, MPNetTokenizer

    size = _word_pieces(folder, ("<s>", "<pad>", "</s>", "[UNK]", "<mask>"), unused=4)
    MPNetTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    MPNetModel(MPNetConfig(vocab_size=size, **_SIZE)).save_pretrained(folder)


def roberta(folder: Path) -> None:
    """RoBERTa: spaces belong to the words after them, there is one type, and no unused piece."""
    from transformers import RobertaConfig, RobertaModel, RobertaTokenizer

    size = _byte_pairs(folder, ("<s>", "<pad>", "</s>", "<unk>", "<mask>"))
    files = (str(folder / "vocab.json"), str(folder / "merges.txt"))
    RobertaTokenizer(*files).save_pretrained(folder)
    config = RobertaConfig(vocab_size=size, type_vocab_size=1, max_position_embeddings=130, **_SIZE)
    RobertaModel(config).save_pretrained(folder)


def deberta(folder: Path) -> None:
    """DeBERTa: spaces as in RoBERTa, marks as in BERT, no types."""
    from transformers import DebertaConfig, DebertaModel, DebertaTokenizer

    size = _byte_pairs(folder, ("[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"))
    DebertaTokenizer(str(folder / "vocab.json"), str(folder / "merges.txt")).save_pretrained(folder)
    config = DebertaConfig(vocab_size=size, type_vocab_size=0, relative_attention=True, pos_att_type=["c2p"], **_SIZE)
    DebertaModel(config).save_pretrained(folder)


def gpt2(folder: Path) -> None:
    """GPT-2, which only continues texts."""
    from transformers import GPT2Config, GPT2Model, GPT2Tokenizer

    size = _byte_pairs(folder, ("<|endoftext|>",))
    GPT2Tokenizer(str(folder / "vocab.json"), str(folder / "merges.txt")).save_pretrained(folder)
    GPT2Model(GPT2Config(vocab_size=size, n_embd=32, n_layer=1, n_head=2)).save_pretrained(folder)


def unknown(folder: Path) -> None:
    """A kind of model that ``transformers`` does not know."""
    (folder / "config.json").write_text(json.dumps({"model_type": "thinking_machine"}), encoding="utf-8")


ENCODERS: dict[str, Callable[[Path], Any]] = {make.__name__: make for make in (bert, electra, mpnet, roberta, deberta)}
NO_ENCODERS: dict[str, Callable[[Path], Any]] = {make.__name__: make for make in (gpt2, unknown)}
