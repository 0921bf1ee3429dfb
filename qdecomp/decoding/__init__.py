"""From the probabilities of edges and labels to a dependency graph: greedily, or the most probable valid one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from types import MappingProxyType
from typing import Any

from qdecomp.data_structures.errors import DataError
from qdecomp.decoding.decoder import Decoded as Decoded
from qdecomp.decoding.decoder import Decoder as Decoder
from qdecomp.decoding.decoder import GreedyDecoder, GreedyValidDecoder, ProjectionDecoder
from qdecomp.decoding.ilp import IlpDecoder

DECODERS: Mapping[str, type[Decoder]] = MappingProxyType(
    {"greedy": GreedyDecoder, "greedy_valid": GreedyValidDecoder, "ilp": IlpDecoder, "projection": ProjectionDecoder}
)
"""The decoders by name, so that a config can say ``greedy`` or ``ilp``."""

DecoderSettings = str | Mapping[str, Any]
"""What a config says about a decoder: its name, or an object with the name as ``type`` and its options."""


def make_decoder(settings: DecoderSettings, **options: Any) -> Decoder:
    """The decoder of these settings, with further options.

    >>> make_decoder("ilp", time_limit=2.0)
    IlpDecoder(time_limit=2.0, candidates=0, coverage_penalty=0.0)
    >>> make_decoder({"type": "ilp", "time_limit": 0.5})
    IlpDecoder(time_limit=0.5, candidates=0, coverage_penalty=0.0)
    """
    given: dict[str, Any] = {**(settings if isinstance(settings, Mapping) else {"type": settings}), **options}
    name = given.pop("type", None)
    if not isinstance(name, str) or name not in DECODERS:
        raise DataError(f"there is no decoder {name!r}; choose from {', '.join(DECODERS)}")
    known = [each.name for each in fields(DECODERS[name])]
    for option in given:
        if option not in known:
            raise DataError(
                f"decoder {name!r}: there is no option {option!r}; known options: {', '.join(known) or 'none'}"
            )
    return DECODERS[name](**given)


def with_candidates(decoder: Decoder, count: int) -> Decoder:
    """The same decoder, giving this many graphs; a decoder that can give only one is a :class:`DataError`."""
    if not isinstance(decoder, IlpDecoder):
        raise DataError("greedy decoding gives only one graph; candidates need the decoder 'ilp'")
    return replace(decoder, candidates=count)
