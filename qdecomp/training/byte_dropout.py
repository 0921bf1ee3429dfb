"""Dropout that is cheap on a CPU, where drawing a random number for every element takes most of the time.

A random number of 64 bits serves eight elements, one for each of its bytes. So rates are multiples of 1/256: 0.1
becomes 26/256.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

__all__ = ["ByteDropout", "draw_dropout_by_byte"]

_VALUES_OF_A_BYTE = 256
_BYTES_OF_A_NUMBER = 8
_SMALLEST_NUMBER = -(2**63)


class ByteDropout(nn.Dropout):
    """Dropout by bytes; torch's own on other devices and for rates too close to 0 or 1 for a byte."""

    def forward(self, input: Tensor) -> Tensor:
        """Some elements are set to zero, the others scaled up, so that sums stay the same on average."""
        dropped = round(self.p * _VALUES_OF_A_BYTE)
        if not self.training or input.device.type != "cpu" or not 0 < dropped < _VALUES_OF_A_BYTE:
            return super().forward(input)
        count = input.numel()
        numbers = torch.empty(-(-count // _BYTES_OF_A_NUMBER), dtype=torch.int64).random_(_SMALLEST_NUMBER, None)
        kept = numbers.view(torch.uint8)[:count].view(input.shape) >= dropped
        return input * kept.to(input.dtype).mul_(_VALUES_OF_A_BYTE / (_VALUES_OF_A_BYTE - dropped))


def draw_dropout_by_byte(module: nn.Module) -> None:
    """Replace every dropout in this module with a ``ByteDropout``."""
    for parent in list(module.modules()):
        for name, child in parent.named_children():
            if type(child) is nn.Dropout:
                setattr(parent, name, ByteDropout(child.p))
