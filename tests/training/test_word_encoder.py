from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from allennlp.data import Batch, Vocabulary
from allennlp.data.token_indexers import SingleIdTokenIndexer

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.special_tokens import PRESETS
from qdecomp.training import word_encoder
from qdecomp.training.dataset_readers import BreakGraphReader
from qdecomp.training.indexer import NO_WORD, WordPieceIndexer
from qdecomp.training.word_encoder import (
    PIECES,
    POS_TAGS,
    EncodedWords,
    WordEncoder,
    average_pieces,
    device_has_bfloat16,
    trains_in_bfloat16,
)
from tests.encoders import ENCODERS

SPECIAL = len(PRESETS["default"].appended)
QUESTIONS = ("How many zqx cubes are red?", "red cubes")


def test_words_are_the_mean_of_their_pieces() -> None:
    states = torch.randn(2, 5, 3)
    words = torch.tensor([[NO_WORD, 0, 0, 1, NO_WORD], [NO_WORD, 0, NO_WORD, NO_WORD, NO_WORD]])
    means, mask = average_pieces(states, words)
    torch.testing.assert_close(means[0, 0], (states[0, 1] + states[0, 2]) / 2)
    torch.testing.assert_close(means[0, 1], states[0, 3])
    torch.testing.assert_close(means[1, 0], states[1, 1])
    assert mask.tolist() == [[True, True], [True, False]]
    assert means[1, 1].tolist() == [0, 0, 0]


def _encode(
    encoder: str, questions: tuple[str, ...] = QUESTIONS, *, inside: bool, tags: bool = False, **options: object
) -> tuple[WordEncoder, EncodedWords]:
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
    torch.manual_seed(0)
    module = WordEncoder(vocab, encoder, special_layers=0 if inside else 2, **options)  # type: ignore[arg-type]
    module.eval()
    return module, module(batch.as_tensor_dict()["question"])


@pytest.mark.parametrize("inside", [True, False])
def test_special_tokens_come_first_and_padding_last(tiny_encoder: Path, inside: bool) -> None:
    _, encoded = _encode(str(tiny_encoder), inside=inside)
    assert encoded.states.shape == (2, SPECIAL + 7, 48)
    assert encoded.mask.sum(-1).tolist() == [SPECIAL + 7, SPECIAL + 2]
    assert encoded.states[:, encoded.special_count :].shape == (2, 7, 48)
    assert encoded.mask[:, encoded.special_count :].tolist() == [[True] * 7, [True] * 2 + [False] * 5]


@pytest.mark.parametrize("inside", [True, False])
def test_states_do_not_depend_on_padding(tiny_encoder: Path, inside: bool) -> None:
    _, together = _encode(str(tiny_encoder), inside=inside)
    _, alone = _encode(str(tiny_encoder), QUESTIONS[1:], inside=inside)
    torch.testing.assert_close(together.states[1, : SPECIAL + 2], alone.states[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("inside", [True, False])
def test_special_tokens_depend_on_the_question_and_differ(tiny_encoder: Path, inside: bool) -> None:
    _, encoded = _encode(str(tiny_encoder), inside=inside)
    special = encoded.states[:, :SPECIAL]
    assert not torch.allclose(special[0], special[1], atol=1e-4)
    distances = torch.cdist(special[0], special[0]) + torch.eye(SPECIAL)
    assert float(distances.detach().min()) > 1e-3


def test_tags_of_words_are_appended_to_states(tiny_encoder: Path) -> None:
    encoder, encoded = _encode(str(tiny_encoder), inside=False, tags=True, pos_tag_dim=6)
    assert encoded.states.size(-1) == encoder.get_output_dim() == 54
    assert (encoded.states[:, :SPECIAL, 48:] == 0).all()
    assert (encoded.states[0, SPECIAL:, 48:] != 0).any()


def test_layers_can_be_mixed_and_embeddings_frozen(tiny_encoder: Path) -> None:
    plain, last = _encode(str(tiny_encoder), inside=False)
    mixing, mixed = _encode(str(tiny_encoder), inside=False, mix_layers=True, freeze_embeddings=True)
    assert not torch.allclose(last.states[:, last.special_count :], mixed.states[:, mixed.special_count :])
    frozen = {name for name, parameter in mixing.named_parameters() if not parameter.requires_grad}
    assert frozen
    assert all(name.startswith("transformer.embeddings.") for name in frozen)
    assert all(parameter.requires_grad for parameter in plain.parameters())


def test_special_tokens_that_nobody_encodes_are_noticed(tiny_encoder: Path) -> None:
    reader = BreakGraphReader(token_indexers={PIECES: WordPieceIndexer(str(tiny_encoder))})
    instance = reader.text_to_instance("red cubes")
    reader.apply_token_indexers(instance)
    batch = Batch([instance])
    batch.index_instances(Vocabulary())
    with pytest.raises(DataError, match="have different special tokens"):
        WordEncoder(Vocabulary(), str(tiny_encoder))(batch.as_tensor_dict()["question"])


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


@pytest.fixture(autouse=True)
def _nothing_known() -> Iterator[None]:
    trains_in_bfloat16.cache_clear()
    yield
    trains_in_bfloat16.cache_clear()


def _processor(monkeypatch: pytest.MonkeyPatch, instructions: dict[str, object], *, one_dnn: bool) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: instructions)
    monkeypatch.setattr(torch.ops, "mkldnn", SimpleNamespace(_is_mkldnn_bf16_supported=lambda: one_dnn))


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
    instructions: dict[str, object], one_dnn: bool, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    _processor(monkeypatch, instructions, one_dnn=one_dnn)
    assert device_has_bfloat16("cpu") is expected


@pytest.mark.parametrize("supported", [True, False])
def test_a_gpu_is_asked_without_emulation(supported: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def probe(including_emulation: bool = True) -> bool:
        return including_emulation or supported

    monkeypatch.setattr(torch.cuda, "is_bf16_supported", probe)
    assert device_has_bfloat16("cuda") is supported


def test_other_devices_stay_in_full_precision() -> None:
    assert not device_has_bfloat16("meta")


def test_what_has_no_effect_is_said_once(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(word_encoder, "device_has_bfloat16", lambda device_type: device_type == "cuda")
    with caplog.at_level(logging.INFO, logger=word_encoder.__name__):
        assert [trains_in_bfloat16(device) for device in ("cuda", "cpu", "cpu")] == [True, False, False]
    assert [record.getMessage() for record in caplog.records] == [
        "half_precision has no effect here: this device (cpu) has no instructions for bfloat16, so the encoder is "
        "trained in float32"
    ]


def test_the_probe_of_this_machine_answers() -> None:
    assert device_has_bfloat16("cpu") in (True, False)
