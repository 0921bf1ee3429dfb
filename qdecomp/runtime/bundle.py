"""A trained parser as a folder: its config, its pieces, its weights and its card, each checked before it is used.

The folder holds ``config.json``, ``vocab.txt``, ``weights.safetensors`` and ``MODEL_CARD.md``. The config has the
checksums of the other files, so a file that was damaged or belongs to another parser is noticed. Nothing is unpickled.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.special_tokens import SpecialTokens
from qdecomp.decoding import Decoder, DecoderSettings, make_decoder

from .graph_network import GraphNetwork
from .graph_parser import GraphParser
from .layers import Weights
from .weights import Array, ByteRows, read_weights, write_weights
from .word_pieces import WordPieces

__all__ = ["BUNDLED", "CARD", "BundleConfig", "is_bundle", "read_bundle", "read_config", "write_bundle"]

BUNDLED = Path(__file__).parent / "minilm_break"
"""The folder of the parser that comes with the package."""

CARD = "MODEL_CARD.md"
_CONFIG = "config.json"
_PIECES = "vocab.txt"
_WEIGHTS = "weights.safetensors"
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class BundleConfig:
    """What is to be known of a parser beside its weights; everything is as ``json`` gives it."""

    name: str
    encoder: str
    heads: int
    epsilon: float
    max_pieces: int
    special_heads: int
    resources: tuple[str, ...]
    duplicates: int
    dummies: int
    labels: tuple[str, ...]
    decoder: DecoderSettings
    scores: Mapping[str, Any]
    """What was measured, as the card says it."""

    @property
    def special_tokens(self) -> SpecialTokens:
        """The tokens that are appended to every question."""
        return SpecialTokens(self.resources, self.duplicates, self.dummies)


def is_bundle(folder: Path) -> bool:
    """Whether a folder looks like a bundle, be it whole or not."""
    return (folder / _CONFIG).is_file() and not (folder / "model.tar.gz").is_file()


def read_bundle(folder: Path, decoder: str | None = None, **options: Any) -> GraphParser:
    """The parser in a folder; ``decoder`` and its options replace the config's.

    A file that is missing, damaged or of another parser is a :class:`DataError`.
    """
    config = read_config(folder)
    network = GraphNetwork(
        Weights(read_weights(folder / _WEIGHTS)),
        heads=config.heads,
        epsilon=config.epsilon,
        special_heads=config.special_heads,
    )
    chosen: Decoder = make_decoder(decoder or config.decoder, **options)
    pieces = WordPieces(folder / _PIECES, config.max_pieces)
    return GraphParser(network, pieces, config.labels, config.special_tokens.appended, chosen)


def read_config(folder: Path) -> BundleConfig:
    """The config of a folder whose other files are those that it was written with."""
    path = folder / _CONFIG
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        if values.pop("format") != _FORMAT:
            raise DataError(f"{path}: this parser was bundled for another version of qdecomp")
        checksums = values.pop("checksums")
        config = BundleConfig(**{**values, **{name: tuple(values[name]) for name in ("resources", "labels")}})
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{path}: not the config of a bundled parser ({type(error).__name__}: {error})") from None
    for name in (_PIECES, _WEIGHTS, CARD):
        if _checksum(folder / name) != checksums.get(name):
            raise DataError(f"{folder / name}: damaged, or of another parser; install qdecomp anew")
    return config


def write_bundle(
    folder: Path, config: BundleConfig, weights: Mapping[str, Array | ByteRows], pieces: str, card: str
) -> None:
    """Write a folder that :func:`read_bundle` reads."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _PIECES).write_text(pieces, encoding="utf-8", newline="")
    (folder / CARD).write_text(card, encoding="utf-8", newline="")
    write_weights(folder / _WEIGHTS, weights)
    values = {"format": _FORMAT} | {field.name: getattr(config, field.name) for field in fields(config)}
    values["checksums"] = {name: _checksum(folder / name) for name in (_PIECES, _WEIGHTS, CARD)}
    (folder / _CONFIG).write_text(json.dumps(values, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _checksum(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); install qdecomp anew") from None
