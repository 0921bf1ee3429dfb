"""Tiny encoders with random weights, one of each usable kind; their tokenizers differ as real ones do."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

WORDS = ("how", "many", "red", "cubes", "are", "there", "?", "size", "flights", "number")
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789?"
_SIZE = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
_BERT_MARKS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
# How the names of its classes begin, its marks, how many unused pieces it has (None for pieces of bytes, in which
# spaces belong to the words after them), and settings.
_KINDS: dict[str, tuple[str, tuple[str, ...], int | None, dict[str, Any]]] = {
    # The one that all others are compared with.
    "bert": ("Bert", _BERT_MARKS, 20, _SIZE),
    # Embeddings of another size.
    "electra": ("Electra", _BERT_MARKS, 0, {**_SIZE, "embedding_size": 16}),
    # Two separators between texts, no types, positions that begin after padding.
    "mpnet": ("MPNet", ("<s>", "<pad>", "</s>", "[UNK]", "<mask>"), 4, _SIZE),
    "roberta": (
        *("Roberta", ("<s>", "<pad>", "</s>", "<unk>", "<mask>"), None),
        {**_SIZE, "type_vocab_size": 1, "max_position_embeddings": 130},
    ),
    # No types.
    "deberta": (
        *("Deberta", ("[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"), None),
        {**_SIZE, "type_vocab_size": 0, "relative_attention": True, "pos_att_type": ["c2p"]},
    ),
    # It only continues texts.
    "gpt2": ("GPT2", ("<|endoftext|>",), None, {"n_embd": 32, "n_layer": 1, "n_head": 2}),
}


def _make(kind: str, folder: Path) -> None:
    import transformers
    from tokenizers import ByteLevelBPETokenizer

    name, marks, unused, settings = _KINDS[kind]
    model, config, tokenizer = (getattr(transformers, f"{name}{part}") for part in ("Model", "Config", "Tokenizer"))
    if unused is not None:
        pieces = [*marks, *(f"[unused{number}]" for number in range(unused))]
        pieces += dict.fromkeys([*_LETTERS, *(f"##{letter}" for letter in _LETTERS), *WORDS])
        (folder / "vocab.txt").write_text("\n".join(pieces), encoding="utf-8")
        files, size = ["vocab.txt"], len(pieces)
    else:
        # A word with the space before it is one piece, and a word without is several.
        trained = ByteLevelBPETokenizer(add_prefix_space=False)
        trained.train_from_iterator(
            [" ".join(("", *WORDS))] * 9, vocab_size=900, min_frequency=2, special_tokens=[*marks]
        )
        trained.save_model(str(folder))
        files, size = ["vocab.json", "merges.txt"], trained.get_vocab_size()
    tokenizer(*(str(folder / file) for file in files)).save_pretrained(folder)
    model(config(vocab_size=size, **settings)).save_pretrained(folder)


def _unknown(folder: Path) -> None:
    """A kind of model that ``transformers`` does not know."""
    (folder / "config.json").write_text(json.dumps({"model_type": "thinking_machine"}), encoding="utf-8")


ENCODERS: dict[str, Callable[[Path], None]] = {kind: partial(_make, kind) for kind in _KINDS if kind != "gpt2"}
NO_ENCODERS: dict[str, Callable[[Path], None]] = {"gpt2": partial(_make, "gpt2"), "unknown": _unknown}
