"""A trained parser as a folder: its config, its pieces, its weights and its card, each checked before it is used.

The folder holds ``config.json``, ``vocab.txt``, ``weights.safetensors`` and ``MODEL_CARD.md``. The config has the
checksums of the other files, so a file that was damaged or belongs to another parser is noticed. Nothing is unpickled.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from qdecomp.data_structures.errors import DataError
from qdecomp.decoding import Decoder, make_decoder
from qdecomp.parsers.backend_names import DEFAULT_BACKEND
from qdecomp.parsers.backends import writer_backend
from qdecomp.parsers.bundle_config import BundleConfig, GraphConfig, WriterConfig, config_from_json
from qdecomp.parsers.calibration import calibration_from_json
from qdecomp.parsers.graph_network import GraphNetwork
from qdecomp.parsers.graph_parser import GraphParser
from qdecomp.parsers.layers import Weights
from qdecomp.parsers.schema import check_tensors, measured_sizes
from qdecomp.parsers.weights import Array, ByteRows, from_bytes, read_weights, write_weights
from qdecomp.parsers.word_pieces import WordPieces
from qdecomp.parsers.writer import SearchSettings, Writer

__all__ = [
    "BUNDLED",
    "CARD",
    "BundledParser",
    "is_bundle",
    "read_bundle",
    "read_config",
    "read_numbers",
    "write_bundle",
    "write_config",
]

BUNDLED = Path(__file__).parent / "minilm_break"
"""The folder of the parser that comes with the package."""

CARD = "MODEL_CARD.md"
_CONFIG = "config.json"
_PIECES = "vocab.txt"
_WEIGHTS = "weights.safetensors"
_FORMAT = 1

BundledParser = GraphParser | Writer
"""Gives a batch of questions their predictions."""


def is_bundle(folder: Path) -> bool:
    """Whether a folder looks like a bundle, complete or not."""
    return (folder / _CONFIG).is_file() and not (folder / "model.tar.gz").is_file()


def read_bundle(
    folder: Path, decoder: str | None = None, *, backend: str = DEFAULT_BACKEND, **options: Any
) -> BundledParser:
    """The parser in a folder; ``decoder`` and its options replace the config's.

    ``backend`` is what computes the networks of a parser that writes, see :mod:`qdecomp.parsers.backends`.
    A file that is missing, damaged or part of another parser is a :class:`DataError`.
    """
    config = read_config(folder)
    arrays = read_weights(folder / _WEIGHTS)
    pieces = WordPieces(folder / _PIECES, config.max_pieces)
    check_tensors(folder / _WEIGHTS, config, arrays, pieces.count)
    weights = Weights(arrays)
    parser: BundledParser
    if isinstance(config, WriterConfig):
        if decoder is not None:
            raise DataError(f"{folder}: this parser writes its plans and predicts no graphs, so it takes no decoder")
        parser = _writer(config, weights, pieces, options, backend)
    else:
        assert isinstance(config, GraphConfig)
        if backend != DEFAULT_BACKEND:
            raise DataError(f"{folder}: this parser predicts graphs; the backend {backend} is for those that write")
        parser = _graph_parser(config, weights, pieces, make_decoder(decoder or config.decoder, **options))
    parser.calibration = calibration_from_json(config.calibration)
    return parser


def _graph_parser(config: GraphConfig, weights: Weights, pieces: WordPieces, decoder: Decoder) -> GraphParser:
    network = GraphNetwork(weights, heads=config.heads, epsilon=config.epsilon, special_heads=config.special_heads)
    return GraphParser(network, pieces, config.labels, config.special_tokens.appended, decoder)


def _writer(
    config: WriterConfig, weights: Weights, pieces: WordPieces, options: Mapping[str, Any], backend: str
) -> Writer:
    ids = {token: number for number, token in enumerate(config.tokens)}
    network = writer_backend(backend)(
        weights,
        heads=config.heads,
        epsilon=config.epsilon,
        unwritable=[ids[config.padding], ids[config.start], ids[config.unknown]],
        unknown=ids[config.unknown],
    )
    names = {each.name for each in fields(SearchSettings)}
    for option in options:
        if option not in names:
            raise DataError(f"there is no option {option!r}; the options are {', '.join(sorted(names))}")
    settings = {name: getattr(config, name) for name in ("beam_size", "max_steps", "plan_rules", "coverage_penalty")}
    search = SearchSettings(**{**settings, **options})
    return Writer(network, pieces, config.tokens, start=config.start, end=config.end, search=search)


def read_config(folder: Path) -> BundleConfig:
    """The config of a folder, after checking that its other files are those that it was written with."""
    path = folder / _CONFIG
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError):
        raise DataError(f"{path}: not the config of a bundled parser, because it is not JSON") from None
    if not isinstance(values, dict) or not isinstance(values.get("checksums"), dict):
        raise DataError(f"{path}: not the config of a bundled parser")
    version = values.pop("format", None)
    # To Python, JSON's true equals 1.
    if version != _FORMAT or isinstance(version, bool):
        raise DataError(f"{path}: this parser was bundled for another version of qdecomp")
    checksums = values.pop("checksums")
    try:
        config = config_from_json(values)
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    for name in (_PIECES, _WEIGHTS, CARD):
        if _checksum(folder / name) != checksums.get(name):
            raise DataError(f"{folder / name}: damaged, or part of another parser; install qdecomp again")
    return config


def read_numbers(folder: Path) -> dict[str, Array]:
    """The weights of a bundle, with bytes converted to the numbers that they stand for."""
    read_config(folder)
    weights = read_weights(folder / _WEIGHTS)
    return {name: from_bytes(value) if isinstance(value, ByteRows) else value for name, value in weights.items()}


def write_bundle(
    folder: Path, config: BundleConfig, weights: Mapping[str, Array | ByteRows], pieces: str, card: str
) -> None:
    """Write a folder that :func:`read_bundle` reads."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _PIECES).write_text(pieces, encoding="utf-8", newline="")
    (folder / CARD).write_text(card, encoding="utf-8", newline="")
    write_weights(folder / _WEIGHTS, weights)
    write_config(folder, replace(config, sizes=measured_sizes(config, weights)))


def write_config(folder: Path, config: BundleConfig) -> None:
    """Write the config of a folder whose other files exist, completely or not at all."""
    values = {"format": _FORMAT, "kind": config.kind} | {
        field.name: getattr(config, field.name) for field in fields(config)
    }
    values["checksums"] = {name: _checksum(folder / name) for name in (_PIECES, _WEIGHTS, CARD)}
    written = folder / f"{_CONFIG}.new"
    written.write_text(json.dumps(values, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    written.replace(folder / _CONFIG)


def _checksum(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); install qdecomp again") from None
