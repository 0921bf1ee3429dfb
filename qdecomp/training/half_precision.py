"""Whether a device computes faster in bfloat16 than in float32."""

from __future__ import annotations

import functools
import logging

import torch

__all__ = ["device_has_bfloat16", "trains_in_bfloat16"]

logger = logging.getLogger(__name__)

_CPU_INSTRUCTIONS = ("avx512_bf16", "amx_bf16", "bf16")
"""The names of processor instructions for bfloat16 products; the last one is ARM's."""


@functools.cache
def trains_in_bfloat16(device_type: str) -> bool:
    """Whether training on a device of this type (``"cpu"``, ``"cuda"``) in bfloat16 saves time; says so once if not.

    Without instructions for it, a processor emulates bfloat16: a product then takes many times as long as in float32.
    """
    if device_has_bfloat16(device_type):
        return True
    logger.info(
        "half_precision has no effect here: this device (%s) has no instructions for bfloat16, so the encoder is "
        "trained in float32",
        device_type,
    )
    return False


def device_has_bfloat16(device_type: str) -> bool:
    """Whether the device that torch uses computes bfloat16 products natively, without emulation."""
    if device_type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if device_type != "cpu":
        return False
    # torch leaves these products to oneDNN, and does not insist on the instructions: AVX-512 is enough for it.
    known = torch.cpu.get_capabilities()
    return torch.ops.mkldnn._is_mkldnn_bf16_supported() and any(known.get(name) for name in _CPU_INSTRUCTIONS)
