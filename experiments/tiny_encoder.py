"""A small BERT with random weights, for training runs that only show that everything works."""

from __future__ import annotations

from pathlib import Path

__all__ = ["make_tiny_encoder"]


def make_tiny_encoder(folder: Path, questions: Path, *, seed: int = 0) -> None:
    """Write an encoder whose vocabulary has the words of a file's questions; the same for the same seed."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizer

    from qdecomp.data_structures.tokenization import tokenize
    from qdecomp.files import read_break_csv

    texts = [example.question.lower() for example in read_break_csv(questions)]
    words = dict.fromkeys(word for text in texts for word in tokenize(text))
    letters = [character for character in map(chr, range(33, 127)) if not character.isupper()]
    pieces = ["[PAD]", *(f"[unused{number}]" for number in range(30)), "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces += dict.fromkeys([*letters, *(f"##{letter}" for letter in letters), *words])
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(pieces), encoding="utf-8")
    BertTokenizer(str(vocabulary)).save_pretrained(folder)
    size = {"hidden_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 96}
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = BertModel(BertConfig(vocab_size=len(pieces), max_position_embeddings=256, **size))
    model.save_pretrained(folder)
