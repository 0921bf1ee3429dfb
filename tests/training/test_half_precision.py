from __future__ import annotations

import logging
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
import torch

from qdecomp.training import word_encoder as half_precision
from qdecomp.training.word_encoder import device_has_bfloat16, trains_in_bfloat16

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
    monkeypatch.setattr(half_precision, "device_has_bfloat16", lambda device_type: device_type == "cuda")
    with caplog.at_level(logging.INFO, logger=half_precision.__name__):
        assert [trains_in_bfloat16(device) for device in ("cuda", "cpu", "cpu")] == [True, False, False]
    assert [record.getMessage() for record in caplog.records] == [
        "half_precision has no effect here: this device (cpu) has no instructions for bfloat16, so the encoder is "
        "trained in float32"
    ]


def test_the_probe_of_this_machine_answers() -> None:
    assert device_has_bfloat16("cpu") in (True, False)
