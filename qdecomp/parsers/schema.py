"""Which tensors the networks of a bundle have, with which shapes; mistakes are reported tensor by tensor.

The config of a bundle has its ``sizes``: how wide the layers are and how many there are. They and the rest of the
config determine the name and the shape of every tensor. When a bundle is written, :func:`measured_sizes` takes the
sizes from the weights.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from qdecomp.data_structures.errors import DataError
from qdecomp.parsers.bundle_config import BundleConfig, GraphConfig, WriterConfig
from qdecomp.parsers.weights import Array, ByteRows

__all__ = ["check_tensors", "measured_sizes", "tensor_shapes"]

Sizes = Mapping[str, int]
Shapes = dict[str, tuple[int, ...]]

_ENCODER = "word_encoder.transformer."
_SPECIAL = "word_encoder.special_states."
_MISTAKES_TOLD = 3

# Where to find a size: the tensor and its axis or, without an axis, the start of the names of numbered parts.
_ENCODER_SIZES: Mapping[str, tuple[str, int | None]] = {
    "pieces": (f"{_ENCODER}embeddings.word_embeddings.weight", 0),
    "hidden": (f"{_ENCODER}embeddings.word_embeddings.weight", 1),
    "positions": (f"{_ENCODER}embeddings.position_embeddings.weight", 0),
    "types": (f"{_ENCODER}embeddings.token_type_embeddings.weight", 0),
    "layers": (f"{_ENCODER}encoder.layer.", None),
    "inner": (f"{_ENCODER}encoder.layer.0.intermediate.dense.weight", 0),
}
_KIND_SIZES: Mapping[str, Mapping[str, tuple[str, int | None]]] = {
    GraphConfig.kind: {
        "special_layers": (f"{_SPECIAL}layers.", None),
        "special_inner": (f"{_SPECIAL}layers.0.feed_forward.1.weight", 0),
        "edge": ("edge_from._linear_layers.0.weight", 0),
        "edge_layers": ("edge_from._linear_layers.", None),
        "label": ("label_from._linear_layers.0.weight", 0),
        "label_layers": ("label_from._linear_layers.", None),
    },
    WriterConfig.kind: {
        "decoder": ("decoder._copy.weight", 0),
        "decoder_layers": ("decoder._layers.", None),
        "embedding": ("decoder._embedding.weight", 1),
    },
}


def measured_sizes(config: BundleConfig, weights: Mapping[str, Array | ByteRows]) -> dict[str, int]:
    """The sizes of a network, taken from its weights; a :class:`DataError` names a tensor that is missing."""
    return {
        name: _size(weights, tensor, axis)
        for name, (tensor, axis) in {**_ENCODER_SIZES, **_KIND_SIZES[config.kind]}.items()
    }


def _size(weights: Mapping[str, Array | ByteRows], tensor: str, axis: int | None) -> int:
    if axis is None:
        parts = (name[len(tensor) :].partition(".")[0] for name in weights if name.startswith(tensor))
        return max((int(part) + 1 for part in parts if part.isdecimal() and len(part) < 4), default=0)
    if tensor not in weights:
        raise DataError(f"there is no tensor {tensor}")
    shape = _shape(weights[tensor])
    if axis >= len(shape):
        raise DataError(f"{tensor} has the shape {shape}")
    return shape[axis]


def tensor_shapes(config: BundleConfig, sizes: Sizes) -> Shapes:
    """The name and the shape of every tensor of a parser."""
    return _SHAPES[config.kind](config, sizes)


def check_tensors(path: Path, config: BundleConfig, weights: Mapping[str, Array | ByteRows], pieces: int) -> None:
    """Raise unless a file has exactly the tensors that the config describes; ``pieces`` is the vocabulary's size."""
    try:
        sizes = config.sizes or measured_sizes(config, weights)
        expected = tensor_shapes(config, sizes)
    except (DataError, KeyError) as error:
        raise DataError(f"{path}: not the weights that its config describes: {error}") from None
    mistakes = [f"there is no tensor {name}" for name in expected if name not in weights]
    mistakes += [f"there is an unknown tensor {name}" for name in weights if name not in expected]
    for name in expected.keys() & weights.keys():
        if (shape := _shape(weights[name])) != expected[name]:
            mistakes.append(f"{name} has the shape {shape}, not {expected[name]}")
        elif not _is_finite(weights[name]):
            mistakes.append(f"{name} has numbers that are not finite")
    mistakes += _mistakes_of_sizes(config, sizes, pieces)
    if mistakes:
        more = f"; and {len(mistakes) - _MISTAKES_TOLD:,} more" if len(mistakes) > _MISTAKES_TOLD else ""
        raise DataError(f"{path}: {'; '.join(sorted(mistakes)[:_MISTAKES_TOLD])}{more}")


def _mistakes_of_sizes(config: BundleConfig, sizes: Sizes, pieces: int) -> list[str]:
    """What would otherwise only be noticed in the middle of a question, or never."""
    mistakes = [f"{name} is {size}" for name, size in sizes.items() if size < 1]
    if sizes["hidden"] % config.heads:
        mistakes.append(f"{config.heads} heads cannot share {sizes['hidden']} numbers")
    if isinstance(config, GraphConfig) and sizes["hidden"] % config.special_heads:
        mistakes.append(f"{config.special_heads} special heads cannot share {sizes['hidden']} numbers")
    if config.max_pieces > sizes["positions"]:
        mistakes.append(f"max_pieces is {config.max_pieces}, but there are {sizes['positions']} positions")
    if pieces > sizes["pieces"]:
        mistakes.append(f"{pieces} pieces in the vocabulary, but {sizes['pieces']} have vectors")
    return mistakes


def _shape(value: Array | ByteRows) -> tuple[int, ...]:
    return tuple(value.values.shape if isinstance(value, ByteRows) else value.shape)


def _is_finite(value: Array | ByteRows) -> bool:
    return bool(np.isfinite(value.factors if isinstance(value, ByteRows) else value).all())


def _linear(name: str, outputs: int, inputs: int) -> Shapes:
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def _norm(name: str, size: int) -> Shapes:
    return {f"{name}.weight": (size,), f"{name}.bias": (size,)}


def _joined(parts: Sequence[Shapes]) -> Shapes:
    return {name: shape for part in parts for name, shape in part.items()}


def _encoder_shapes(sizes: Sizes) -> Shapes:
    hidden, inner = sizes["hidden"], sizes["inner"]
    embeddings = f"{_ENCODER}embeddings"
    parts: list[Shapes] = [
        {f"{embeddings}.word_embeddings.weight": (sizes["pieces"], hidden)},
        {f"{embeddings}.position_embeddings.weight": (sizes["positions"], hidden)},
        {f"{embeddings}.token_type_embeddings.weight": (sizes["types"], hidden)},
        _norm(f"{embeddings}.LayerNorm", hidden),
    ]
    for number in range(sizes["layers"]):
        layer = f"{_ENCODER}encoder.layer.{number}"
        parts += [_linear(f"{layer}.attention.self.{name}", hidden, hidden) for name in ("query", "key", "value")]
        parts += [
            _linear(f"{layer}.attention.output.dense", hidden, hidden),
            _norm(f"{layer}.attention.output.LayerNorm", hidden),
            _linear(f"{layer}.intermediate.dense", inner, hidden),
            _linear(f"{layer}.output.dense", hidden, inner),
            _norm(f"{layer}.output.LayerNorm", hidden),
        ]
    return _joined(parts)


def _graph_shapes(config: BundleConfig, sizes: Sizes) -> Shapes:
    assert isinstance(config, GraphConfig)
    hidden, special_inner, edge, label = (sizes[name] for name in ("hidden", "special_inner", "edge", "label"))
    parts: list[Shapes] = [
        _encoder_shapes(sizes),
        {f"{_SPECIAL}vectors": (len(config.special_tokens.appended), hidden)},
        _norm(f"{_SPECIAL}norm", hidden),
        {"edge_scorer.weight": (edge + 1, edge + 1)},
        {"label_scorer.weight": (label + 1, len(config.labels) * (label + 1))},
    ]
    for number in range(sizes["special_layers"]):
        layer = f"{_SPECIAL}layers.{number}"
        attention = f"{layer}.attention"
        parts += [
            _norm(f"{layer}.norm", hidden),
            {f"{attention}.in_proj_weight": (3 * hidden, hidden), f"{attention}.in_proj_bias": (3 * hidden,)},
            _linear(f"{attention}.out_proj", hidden, hidden),
            _norm(f"{layer}.feed_forward.0", hidden),
            _linear(f"{layer}.feed_forward.1", special_inner, hidden),
            _linear(f"{layer}.feed_forward.3", hidden, special_inner),
        ]
    for name, size, count in (("edge", edge, sizes["edge_layers"]), ("label", label, sizes["label_layers"])):
        parts += [
            _linear(f"{name}_{side}._linear_layers.{number}", size, size if number else hidden)
            for side in ("from", "to")
            for number in range(count)
        ]
    return _joined(parts)


def _writer_shapes(config: BundleConfig, sizes: Sizes) -> Shapes:
    assert isinstance(config, WriterConfig)
    hidden, decoder, embedding = (sizes[name] for name in ("hidden", "decoder", "embedding"))
    tokens = len(config.tokens)
    parts: list[Shapes] = [
        _encoder_shapes(sizes),
        {"decoder._embedding.weight": (tokens, embedding), "decoder._word_embedding.weight": (embedding, hidden)},
        _linear("decoder._generate", tokens, decoder),
        _linear("decoder._copy", decoder, hidden),
    ]
    for number in range(sizes["decoder_layers"]):
        layer = f"decoder._layers.{number}"
        gates = 4 * decoder
        parts += [
            _linear(f"{layer}.initial", 2 * decoder, hidden),
            {f"{layer}.lstm.weight_ih_l0": (gates, decoder if number else embedding)},
            {f"{layer}.lstm.weight_hh_l0": (gates, decoder)},
            {f"{layer}.lstm.bias_ih_l0": (gates,), f"{layer}.lstm.bias_hh_l0": (gates,)},
            {f"{layer}.keys.weight": (decoder, hidden)},
            _linear(f"{layer}.joined", decoder, decoder + hidden),
        ]
    return _joined(parts)


# Each kind of parser is a row: how its config and its sizes determine its tensors.
_SHAPES: Mapping[str, Callable[[BundleConfig, Sizes], Shapes]] = {
    GraphConfig.kind: _graph_shapes,
    WriterConfig.kind: _writer_shapes,
}
