"""From a trained graph parser to the parts of a bundle, see :mod:`qdecomp.runtime.bundle`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from allennlp.models.archival import Archive, load_archive

from qdecomp.data.word_piece_indexer import MAX_PIECES, special_tokens_of
from qdecomp.data_structures.errors import DataError
from qdecomp.files.pretrained import encoder_path
from qdecomp.models.biaffine_graph_parser import BiaffineGraphParser
from qdecomp.runtime.bundle import BundleConfig
from qdecomp.runtime.weights import Array, ByteRows, to_bytes

from .registration import register_components

__all__ = ["bundle_parts", "load_graph_parser"]

_TRANSFORMER = "word_encoder.transformer."
# A tenth of the usual limit loses next to nothing, and no question keeps its asker waiting for long.
_DECODER = {"type": "ilp", "time_limit": 0.1}


def load_graph_parser(archive: Path) -> Archive:
    """An archive whose model can be bundled; any other is a :class:`DataError`."""
    register_components()
    try:
        loaded = load_archive(archive)
    except OSError as error:
        raise DataError(f"{archive}: cannot be read ({error})") from None
    model = loaded.model
    if not isinstance(model, BiaffineGraphParser):
        raise DataError(f"{archive}: only a biaffine_graph_parser can be bundled, not a {type(model).__name__}")
    encoder = model.word_encoder
    if encoder.special_states is None or encoder.layer_mix is not None or encoder.pos_embedding is not None:
        raise DataError(f"{archive}: bundled are parsers with special tokens outside, without tags or mixed layers")
    return loaded


def bundle_parts(
    model: BiaffineGraphParser, name: str, params: Mapping[str, Any]
) -> tuple[BundleConfig, dict[str, Array | ByteRows], str]:
    """Config, weights and pieces; ``params`` are those that the model was made of."""
    settings = params["model"]["word_encoder"]
    special = special_tokens_of(settings["special_tokens"])
    assert special is not None
    assert model.word_encoder.special_states is not None
    transformer: Any = model.word_encoder.transformer.config
    attention: Any = model.word_encoder.special_states.layers[0].attention
    config = BundleConfig(
        name=name,
        encoder=settings["encoder"],
        heads=transformer.num_attention_heads,
        epsilon=transformer.layer_norm_eps,
        max_pieces=MAX_PIECES,
        special_heads=attention.num_heads,
        resources=special.resources,
        duplicates=special.duplicates,
        dummies=special.dummies,
        labels=model.labels,
        decoder=_DECODER,
        scores={},
    )
    return config, _weights(model), _pieces(settings["encoder"])


def _weights(model: BiaffineGraphParser) -> dict[str, Array | ByteRows]:
    """The encoder's matrices, which are most of the parser, as bytes; the rest as it is."""
    arrays = {name: tensor.numpy() for name, tensor in model.state_dict().items()}
    return {
        name: to_bytes(array) if name.startswith(_TRANSFORMER) and array.ndim == 2 else array
        for name, array in arrays.items()
    }


def _pieces(encoder: str) -> str:
    """The encoder's pieces, one a line."""
    path = Path(encoder_path(encoder)) / "vocab.txt"
    if not path.is_file():
        raise DataError(f"{path}: there is no such file; only encoders with a vocab.txt can be bundled")
    return path.read_text(encoding="utf-8")
