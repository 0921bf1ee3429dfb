"""Turns a trained parser into a bundle, see :mod:`qdecomp.parsers.bundle`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from allennlp.common.util import END_SYMBOL, START_SYMBOL
from allennlp.models.archival import Archive
from allennlp.models.model import Model

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.special_tokens import special_tokens_of
from qdecomp.parsers.bundle import (
    CARD,
    VOCABULARY,
    WEIGHTS,
    BundleConfig,
    GraphConfig,
    Seq2SeqConfig,
    read_config,
    write_config,
)
from qdecomp.training import register_components
from qdecomp.training.archives import load_archive_safely
from qdecomp.training.biaffine_parser import BiaffineGraphParser
from qdecomp.training.copynet import CopyNetBert
from qdecomp.training.indexer import MAX_PIECES
from qdecomp.training.onnx_export import RANKER, write_graphs
from qdecomp.training.pretrained import encoder_path
from qdecomp.training.ranker import PlanRanker
from qdecomp.training.weights import Array, Int8Rows, quantised, read_weights, write_weights

Parts = tuple[BundleConfig, dict[str, Array | Int8Rows], str]
"""Config, weights and pieces."""

_TRANSFORMER = "word_encoder.transformer."
_DECODER_WEIGHTS = "decoder."
# A tenth of the usual limit loses next to nothing, and no question takes long.
_DECODER = {"type": "ilp", "time_limit": 0.1, "coverage_penalty": 1.5}


def load_bundleable(archive: Path) -> Archive:
    """An archive whose model can be bundled; any other is a :class:`DataError`."""
    register_components()
    loaded = load_archive_safely(archive)
    model = loaded.model
    if not isinstance(model, BiaffineGraphParser | CopyNetBert):
        raise DataError(
            f"{archive}: only a biaffine_graph_parser or a copynet_bert can be bundled, not a {type(model).__name__}"
        )
    encoder = model.word_encoder
    if isinstance(model, BiaffineGraphParser) and encoder.special_states is None:
        raise DataError(f"{archive}: a graph parser can only be bundled if its special tokens are outside the encoder")
    if isinstance(model, CopyNetBert) and encoder.special_count:
        raise DataError(f"{archive}: a seq2seq parser can only be bundled without special tokens")
    if isinstance(model, CopyNetBert) and model.decoder.has_feedback:
        raise DataError(f"{archive}: a parser with attention_feedback cannot be bundled")
    kind = encoder.transformer.config.model_type
    if kind != "bert":
        raise DataError(f"{archive}: the encoder must be a BERT, such as MiniLM, to be bundled, not a {kind}")
    if encoder.layer_mix is not None or encoder.pos_embedding is not None:
        raise DataError(f"{archive}: a parser with part-of-speech tags or mixed layers cannot be bundled")
    return loaded


def bundle_parts(model: Model, name: str, params: Mapping[str, Any]) -> Parts:
    """The parts of a bundle; ``params`` are those that the model was built from."""
    assert isinstance(model, BiaffineGraphParser | CopyNetBert)
    encoder = params["model"]["word_encoder"]["encoder"]
    transformer: Any = model.word_encoder.transformer.config
    shared: dict[str, Any] = {
        "name": name,
        "encoder": encoder,
        "heads": transformer.num_attention_heads,
        "epsilon": transformer.layer_norm_eps,
        "max_pieces": min(MAX_PIECES, transformer.max_position_embeddings),
        "scores": {},
    }
    config: BundleConfig
    if isinstance(model, CopyNetBert):
        config = Seq2SeqConfig(**shared, **_seq2seq_settings(model))
        return config, _weights(model, (_TRANSFORMER, _DECODER_WEIGHTS)), _pieces(encoder)
    config = GraphConfig(**shared, **_graph_settings(model, params))
    return config, _weights(model, (_TRANSFORMER,)), _pieces(encoder)


def write_bundle(
    folder: Path, config: BundleConfig, weights: Mapping[str, Array | Int8Rows], pieces: str, card: str
) -> None:
    """Write a folder that :func:`qdecomp.load` opens."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / VOCABULARY).write_text(pieces, encoding="utf-8", newline="")
    (folder / CARD).write_text(card, encoding="utf-8", newline="")
    write_weights(folder / WEIGHTS, weights)
    write_graphs(folder, config)
    write_config(folder, config)


def add_ranker(source: Path, output: Path, model: PlanRanker) -> None:
    """Write the bundle of a seq2seq parser again, with a ranker; its calibration no longer holds, so it is left out."""
    config = read_config(source)
    if not isinstance(config, Seq2SeqConfig):
        raise DataError(f"{source}: only the plans of a seq2seq parser can be ranked")
    weights = {name: each for name, each in read_weights(source / WEIGHTS).items() if not name.startswith(RANKER)}
    for name, tensor in model.state_dict().items():
        array = tensor.numpy()
        # The last layer has one output, and is not worth rounding.
        weights[f"{RANKER}{name}"] = quantised(array) if array.ndim == 2 and len(array) > 1 else array
    ranked = replace(config, ranker={"heads": model.heads}, calibration=None)
    pieces, card = ((source / name).read_text(encoding="utf-8") for name in (VOCABULARY, CARD))
    write_bundle(output, ranked, weights, pieces, card)


def _graph_settings(model: BiaffineGraphParser, params: Mapping[str, Any]) -> dict[str, Any]:
    special = special_tokens_of(params["model"]["word_encoder"]["special_tokens"])
    assert special is not None
    assert model.word_encoder.special_states is not None
    attention: Any = model.word_encoder.special_states.layers[0].attention
    return {
        "special_heads": attention.num_heads,
        "resources": special.resources,
        "duplicates": special.duplicates,
        "dummies": special.dummies,
        "labels": model.labels,
        "decoder": _DECODER,
    }


def _seq2seq_settings(model: CopyNetBert) -> dict[str, Any]:
    decoder, vocab = model.decoder, model.vocab
    return {
        "tokens": decoder.tokens,
        "padding": vocab._padding_token,
        "unknown": vocab._oov_token,
        "start": START_SYMBOL,
        "end": END_SYMBOL,
        "beam_size": decoder.beam_size,
        "max_steps": decoder.max_steps,
        "plan_rules": decoder.plan_rules,
        "coverage_penalty": decoder.coverage_penalty,
    }


def _weights(model: Model, rounded: tuple[str, ...]) -> dict[str, Array | Int8Rows]:
    """The matrices of these parts, which make up most of the parser, as bytes; the rest as it is."""
    arrays = {name: tensor.numpy() for name, tensor in model.state_dict().items()}
    return {
        name: quantised(array) if name.startswith(rounded) and array.ndim == 2 else array
        for name, array in arrays.items()
    }


def _pieces(encoder: str) -> str:
    """The encoder's pieces, one per line."""
    path = Path(encoder_path(encoder)) / "vocab.txt"
    if not path.is_file():
        raise DataError(f"{path}: there is no such file; only encoders with a vocab.txt can be bundled")
    return path.read_text(encoding="utf-8")
