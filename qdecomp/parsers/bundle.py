"""A trained parser as a folder: its config, word pieces, weights, networks and card, checked before they are used.

The folder holds ``config.json``, ``vocab.txt``, ``weights.safetensors``, ``MODEL_CARD.md`` and the networks as ONNX
graphs, which name the weights: ``encoder.onnx`` and ``step.onnx`` of a seq2seq parser, ``model.onnx`` of a graph
parser. The config has the checksums of the files that parsing reads, so one that was damaged or belongs to another
parser is noticed. Nothing is unpickled. ``qdecomp bundle`` makes such a folder.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.special_tokens import SpecialTokens
from qdecomp.decoding import DecoderSettings
from qdecomp.files import write_text_atomically
from qdecomp.parsers.plan_rules import RuleNames

BUNDLED = Path(__file__).parent / "minilm_break"
"""The folder of the parser that comes with the package."""

CARD = "MODEL_CARD.md"
VOCABULARY = "vocab.txt"
WEIGHTS = "weights.safetensors"
_CONFIG = "config.json"
_FORMAT = 2
# What fields of these types are in JSON; options of the search and of the decoder are checked by these.
_TYPES: Mapping[str, tuple[Any, str]] = {
    "str": (str, "a string"),
    "int": (int, "a whole number"),
    "float": (float, "a number"),
    "tuple[str, ...]": (tuple, "a list of strings"),
    "Mapping[str, Any]": (Mapping, "an object"),
    "Mapping[str, Any] | None": (Mapping | None, "an object"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleConfig:
    """What all kinds of parsers share."""

    kind: ClassVar[str]

    name: str
    encoder: str
    heads: int
    epsilon: float
    max_pieces: int
    scores: Mapping[str, Any]
    """What was measured, as on the card."""
    calibration: Mapping[str, Any] | None = None
    """How confidence is computed, see :mod:`qdecomp.parsers.calibration`."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value, (kind, what) = getattr(self, field.name), _TYPES.get(str(field.type), (object, ""))
            if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
                raise DataError(f"{field.name} is {_shown(value)}; it must be {what}")

    @property
    def graphs(self) -> tuple[str, ...]:
        """The files of its networks."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphConfig(BundleConfig):
    """A parser that predicts a graph."""

    kind: ClassVar[str] = "graph"

    special_heads: int
    resources: tuple[str, ...]
    duplicates: int
    dummies: int
    labels: tuple[str, ...]
    decoder: DecoderSettings

    @property
    def graphs(self) -> tuple[str, ...]:
        """That of the whole parser."""
        return ("model.onnx",)

    @property
    def special_tokens(self) -> SpecialTokens:
        """The tokens that are appended to every question."""
        return SpecialTokens(tuple(self.resources), self.duplicates, self.dummies)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seq2SeqConfig(BundleConfig):
    """A parser that generates the decomposition token by token."""

    kind: ClassVar[str] = "seq2seq"

    tokens: tuple[str, ...]
    """The vocabulary, in the order of the ids."""
    padding: str
    unknown: str
    start: str
    end: str
    beam_size: int
    max_steps: int
    plan_rules: RuleNames
    coverage_penalty: int | float = 0.0
    """What each word of the question that a plan leaves out takes off the plan's score."""
    ranker: Mapping[str, Any] | None = None
    """The ``heads`` of the ranker and on what it was trained, if there is one, see :mod:`qdecomp.parsers.network`."""

    def __post_init__(self) -> None:
        BundleConfig.__post_init__(self)
        if len(set(map(str, self.tokens))) < len(self.tokens):
            raise DataError("tokens has a token twice")
        for name in ("padding", "unknown", "start", "end"):
            if (value := getattr(self, name)) not in self.tokens:
                raise DataError(f"{name} is {_shown(value)}; it must be one of the tokens")

    @property
    def graphs(self) -> tuple[str, ...]:
        """Those of the encoder and of a step of the search, and the ranker's."""
        return ("encoder.onnx", "step.onnx", *(() if self.ranker is None else ("ranker.onnx",)))


_KINDS: Mapping[str, type[BundleConfig]] = {kind.kind: kind for kind in (GraphConfig, Seq2SeqConfig)}


def is_bundle(folder: Path) -> bool:
    """Whether a folder looks like a bundle, complete or not."""
    # Of a folder without rights to it, pathlib would raise.
    return os.path.isfile(folder / _CONFIG) and not os.path.isfile(folder / "model.tar.gz")


def read_config(folder: Path) -> BundleConfig:
    """The config of a folder, after checking that the files that parsing reads are those that it was written with."""
    path = folder / _CONFIG
    what = "the config of a bundled parser"
    values = read_json(path, what)
    if not isinstance(values, dict) or not isinstance(values.get("checksums"), dict):
        raise DataError(f"{path}: not {what}")
    # To Python, JSON's true equals 1.
    if (version := values.pop("format", None)) != _FORMAT or isinstance(version, bool):
        raise DataError(f"{path}: this parser was bundled for another version of qdecomp; bundle it again")
    checksums = values.pop("checksums")
    try:
        config = _config_from_json(values)
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    for name, checksum in _checksums(folder, config).items():
        if checksum != checksums.get(name):
            raise DataError(f"{folder / name}: damaged, or part of another parser; install qdecomp again")
    return config


def write_config(folder: Path, config: BundleConfig) -> None:
    """Write the config of a folder whose other files exist, completely or not at all."""
    values = {"format": _FORMAT, "kind": config.kind, **asdict(config)}
    values["checksums"] = _checksums(folder, config)
    with write_text_atomically(folder / _CONFIG) as stream:
        stream.write(json.dumps(values, indent=2, ensure_ascii=False) + "\n")


def read_json(path: Path, what: str) -> Any:
    """The value in a JSON file, which has no infinite numbers; anything else is a :class:`DataError`."""
    try:
        return json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError):
        raise DataError(f"{path}: not {what}, because it is not JSON") from None


def _refuse(constant: str) -> None:
    raise ValueError(f"JSON has no {constant}")


def _config_from_json(values: dict[str, Any]) -> BundleConfig:
    name = values.pop("kind", None)
    if not isinstance(name, str) or name not in _KINDS:
        raise DataError(f"kind is {_shown(name)}; it must be one of {', '.join(_KINDS)}")
    known = {field.name: field.default is MISSING for field in fields(_KINDS[name])}
    if unknown := values.keys() - known:
        raise DataError(f"there is no field {_shown(min(unknown))}")
    if missing := [each for each, is_needed in known.items() if is_needed and each not in values]:
        raise DataError(f"there is no {missing[0]}")
    given: dict[str, Any] = {each: tuple(value) if isinstance(value, list) else value for each, value in values.items()}
    return _KINDS[name](**given)


def _checksums(folder: Path, config: BundleConfig) -> dict[str, str]:
    try:
        names = (VOCABULARY, WEIGHTS, *config.graphs)
        return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}
    except OSError as error:
        raise DataError(f"{error.filename}: cannot be read ({error.strerror}); install qdecomp again") from None


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
