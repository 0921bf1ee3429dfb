from __future__ import annotations

import logging
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from allennlp.data import Batch, TextFieldTensors, Vocabulary
from allennlp.data.token_indexers import SingleIdTokenIndexer

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.special_tokens import PRESETS
from qdecomp.training import word_encoder
from qdecomp.training.dataset_readers import BreakGraphReader
from qdecomp.training.indexer import WordPieceIndexer
from qdecomp.training.word_encoder import PIECES, POS_TAGS, EncodedWords, WordEncoder, trains_in_bfloat16
from tests.encoders import ENCODERS

SPECIAL = len(PRESETS["default"].appended)
QUESTIONS = ("How many zqx cubes are red?", "red cubes")


def _batch(encoder: str, questions: tuple[str, ...], inside: bool, tags: bool) -> tuple[Vocabulary, TextFieldTensors]:
    indexers = {PIECES: WordPieceIndexer(encoder, special_tokens="default" if inside else None)}
    if tags:
        indexers[POS_TAGS] = SingleIdTokenIndexer(namespace=POS_TAGS, feature_name="pos_")
    reader = BreakGraphReader(token_indexers=indexers, pos_tags=tags)
    instances = [reader.text_to_instance(question) for question in questions]
    for instance in instances:
        reader.apply_token_indexers(instance)
    vocab = Vocabulary.from_instances(instances)
    batch = Batch(instances)
    batch.index_instances(vocab)
    return vocab, batch.as_tensor_dict()["question"]


def _encode(
    encoder: str, questions: tuple[str, ...] = QUESTIONS, *, inside: bool, tags: bool = False, **options: object
) -> tuple[WordEncoder, EncodedWords]:
    vocab, batch = _batch(encoder, questions, inside, tags)
    torch.manual_seed(0)
    module = WordEncoder(vocab, encoder, special_layers=0 if inside else 2, **options)  # type: ignore[arg-type]
    module.eval()
    return module, module(batch)


@pytest.mark.parametrize("inside", [True, False])
def test_special_tokens_come_first_and_padding_last(tiny_encoder: Path, inside: bool) -> None:
    _, encoded = _encode(str(tiny_encoder), inside=inside)
    assert encoded.states.shape == (2, SPECIAL + 7, 48)
    assert encoded.mask.sum(-1).tolist() == [SPECIAL + 7, SPECIAL + 2]
    assert encoded.mask[:, SPECIAL:].tolist() == [[True] * 7, [True] * 2 + [False] * 5]


def test_tags_of_words_are_appended_to_states(tiny_encoder: Path) -> None:
    encoder, encoded = _encode(str(tiny_encoder), inside=False, tags=True, pos_tag_dim=6)
    assert encoded.states.size(-1) == encoder.get_output_dim() == 54
    assert (encoded.states[:, :SPECIAL, 48:] == 0).all()
    assert (encoded.states[0, SPECIAL:, 48:] != 0).any()


def test_layers_can_be_mixed_and_embeddings_frozen(tiny_encoder: Path) -> None:
    plain, last = _encode(str(tiny_encoder), inside=False)
    mixing, mixed = _encode(str(tiny_encoder), inside=False, mix_layers=True, freeze_embeddings=True)
    assert not torch.allclose(last.states[:, SPECIAL:], mixed.states[:, SPECIAL:])
    frozen = {name for name, parameter in mixing.named_parameters() if not parameter.requires_grad}
    assert frozen
    assert all(name.startswith("transformer.embeddings.") for name in frozen)
    assert all(parameter.requires_grad for parameter in plain.parameters())


def test_special_tokens_that_nobody_encodes_are_noticed(tiny_encoder: Path) -> None:
    vocab, batch = _batch(str(tiny_encoder), ("red cubes",), inside=False, tags=False)
    with pytest.raises(DataError, match="have different special tokens"):
        WordEncoder(vocab, str(tiny_encoder))(batch)


@pytest.mark.parametrize("helps", [True, False])
def test_half_precision_is_for_training_where_it_helps(
    tiny_encoder: Path, helps: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_encoder, "trains_in_bfloat16", lambda device_type: helps)
    _, full = _encode(str(tiny_encoder), inside=False)
    encoder, half = _encode(str(tiny_encoder), inside=False, half_precision=True, transformer_dropout=0.0)
    assert torch.equal(full.states, half.states)
    pieces = (torch.tensor([[3, 4, 5]]), torch.ones(1, 3, dtype=torch.bool), torch.zeros(1, 3, dtype=torch.long))
    in_full = encoder._transform(*pieces)
    encoder.train()
    in_half = encoder._transform(*pieces)
    assert in_half.dtype == torch.float32
    assert torch.allclose(in_half, in_full, atol=1e-6, rtol=1e-5) is not helps
    torch.testing.assert_close(in_half, in_full, atol=0.05, rtol=0.05)
    in_half.sum().backward()
    assert all(weight.grad.dtype == torch.float32 for weight in encoder.parameters() if weight.grad is not None)


@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize("kind", ENCODERS)
def test_every_kind_of_encoder_works(kind: str, inside: bool, tmp_path: Path) -> None:
    ENCODERS[kind](tmp_path)
    encoder, encoded = _encode(str(tmp_path), inside=inside, freeze_embeddings=True)
    assert encoded.states.shape == (2, SPECIAL + 7, 32)
    assert encoded.states.isfinite().all()
    _, alone = _encode(str(tmp_path), QUESTIONS[1:], inside=inside)
    torch.testing.assert_close(encoded.states[1, : SPECIAL + 2], alone.states[0], rtol=1e-4, atol=1e-5)
    special = encoded.states[0, :SPECIAL]
    assert float((torch.cdist(special, special) + torch.eye(SPECIAL)).detach().min()) > 1e-4
    encoder.train()
    trained = [name for name, weight in encoder.named_parameters() if weight.requires_grad]
    assert trained
    assert not any(name.startswith("transformer.embeddings.") for name in trained)


def test_an_encoder_without_weights_is_one_line(tmp_path: Path) -> None:
    ENCODERS["bert"](tmp_path)
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(DataError, match="it cannot be loaded") as refusal:
        WordEncoder(Vocabulary(), str(tmp_path))
    assert "\n" not in str(refusal.value)


AVX2 = {"architecture": "x86_64", "avx2": True, "avx512_f": False, "avx512_bf16": False, "amx_bf16": False}
AVX512 = AVX2 | {"avx512_f": True}


@pytest.mark.parametrize(
    ("instructions", "one_dnn", "expected"),
    [
        (AVX2, False, False),
        (AVX512, True, False),
        (AVX512 | {"avx512_bf16": True}, True, True),
        (AVX512 | {"amx_bf16": True}, True, True),
        (AVX512 | {"avx512_bf16": True}, False, False),
        ({"architecture": "arm64", "neon": True, "bf16": True}, True, True),
        ({"architecture": "arm64", "neon": True, "bf16": False}, False, False),
        ({"architecture": "unknown"}, True, False),
    ],
)
def test_a_processor_needs_the_instructions(
    instructions: dict[str, object],
    one_dnn: bool,
    expected: bool,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: instructions)
    monkeypatch.setattr(torch.ops, "mkldnn", SimpleNamespace(_is_mkldnn_bf16_supported=lambda: one_dnn))
    with caplog.at_level(logging.INFO, logger=word_encoder.__name__):
        assert trains_in_bfloat16.__wrapped__("cpu") is expected
    assert ("half_precision has no effect here: this device (cpu)" in caplog.text) is not expected
