"""From the probabilities of edges and labels to a dependency graph: greedily, or the most probable valid one."""

from .decoder import DECODERS, Decoded, Decoder, DecoderSettings, make_decoder, prediction_from_decoded, with_candidates

__all__ = [
    "DECODERS",
    "Decoded",
    "Decoder",
    "DecoderSettings",
    "make_decoder",
    "prediction_from_decoded",
    "with_candidates",
]
