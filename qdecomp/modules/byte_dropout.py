"""Dropout that is cheap on a CPU, where it takes longest to draw a random number for every element.

A random number of 64 bits serves eight elements, one for each of its bytes. Rates are therefore those of a byte: 0.1 is
26 of 256.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

__all__ = ["ByteDropout", "draw_dropout_by_byte"]

_VALUES_OF_A_BYTE = 256
_BYTES_OF_A_NUMBER = 8
_SMALLEST_NUMBER = -(2**63)


class ByteDropout(nn.Dropout):
    """Dropout by bytes; torch's own on other devices and with rates too near to 0 or 1 for a byte."""

    def forward(self, input: Tensor) -> Tensor:
        """Some elements set to zero, the others made larger, so that sums stay the same on average."""
        dropped = round(self.p * _VALUES_OF_A_BYTE)
        if not self.training or input.device.type != "cpu" or not 0 < dropped < _VALUES_OF_A_BYTE:
            return super().forward(input)
        count = input.numel()
        numbers = torch.empty(-(-count // _BYTES_OF_A_NUMBER), dtype=torch.int64).random_(_SMALLEST_NUMBER, None)
        kept = numbers.view(torch.uint8)[:count].view(input.shape) >= dropped
        return input * kept.to(input.dtype).mul_(_VALUES_OF_A_BYTE / (_VALUES_OF_A_BYTE - dropped))


def draw_dropout_by_byte(module: nn.Module) -> None:
    """Put a ``ByteDropout`` in the place of every dropout in this module."""
    for parent in list(module.modules()):
        for name, child in parent.named_children():
            if type(child) is nn.Dropout:
                setattr(parent, name, ByteDropout(child.p))
