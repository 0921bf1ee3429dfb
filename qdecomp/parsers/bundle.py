"""A trained parser as a folder: its config, word pieces, weights, networks and card, checked before they are used.

The folder holds ``config.json``, ``vocab.txt``, ``weights.safetensors``, ``MODEL_CARD.md`` and the networks as ONNX
graphs, which name the weights: ``encoder.onnx`` and ``step.onnx`` of a seq2seq parser, ``model.onnx`` of a graph
parser. The config has the checksums of the other files, so a file that was damaged or belongs to another parser is
noticed. Nothing is unpickled. ``qdecomp bundle`` makes such a folder.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.special_tokens import SpecialTokens
from qdecomp.decoding import DecoderSettings
from qdecomp.decoding.coverage import check_penalty
from qdecomp.parsers.plan_rules import RuleNames

BUNDLED = Path(__file__).parent / "minilm_break"
"""The folder of the parser that comes with the package."""

CARD = "MODEL_CARD.md"
VOCABULARY = "vocab.txt"
WEIGHTS = "weights.safetensors"
_CONFIG = "config.json"
_FORMAT = 2
# No parser needs more; a config that says otherwise would only exhaust the memory or take for ever.
_MOST = {"beam_size": 100, "max_steps": 1_000}
_MOST_OF_ANYTHING = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleConfig(ABC):
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

    @property
    @abstractmethod
    def graphs(self) -> tuple[str, ...]:
        """The files of its networks."""

    def __post_init__(self) -> None:
        self._check("name", "encoder", by=_is_text, what="a string")
        self._check_counts(heads=1, max_pieces=3)
        self._check("epsilon", by=lambda value: _is_number(value) and 0 < value < 1, what="a number between 0 and 1")
        self._check("scores", by=lambda value: isinstance(value, Mapping), what="an object")
        self._check("calibration", by=lambda value: isinstance(value, Mapping | None), what="an object")

    def _check(self, *names: str, by: Callable[[Any], bool], what: str) -> None:
        for name in names:
            if not by(value := getattr(self, name)):
                raise DataError(f"{name} is {_shown(value)}; it must be {what}")

    def _check_counts(self, **least: int) -> None:
        for name, minimum in least.items():
            most = _MOST.get(name, _MOST_OF_ANYTHING)
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value <= most:
                raise DataError(f"{name} is {_shown(value)}; it must be a whole number from {minimum} to {most:,}")


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

    def __post_init__(self) -> None:
        BundleConfig.__post_init__(self)
        self._check("resources", "labels", by=_are_words, what="a list of different strings")
        self._check_counts(special_heads=1, duplicates=0, dummies=0)
        self._check("decoder", by=lambda value: isinstance(value, str | Mapping), what="a name or an object")

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
    coverage_penalty: float = 0.0
    """What each word of the question that a plan leaves out takes off the plan's score."""
    ranker: Mapping[str, Any] | None = None
    """The ``heads`` of the ranker and on what it was trained, if there is one, see :mod:`qdecomp.parsers.ranker`."""

    @property
    def graphs(self) -> tuple[str, ...]:
        """Those of the encoder and of a step of the search, and the ranker's."""
        return ("encoder.onnx", "step.onnx", *(() if self.ranker is None else ("ranker.onnx",)))

    def __post_init__(self) -> None:
        BundleConfig.__post_init__(self)
        self._check("ranker", by=lambda value: isinstance(value, Mapping | None), what="an object")
        self._check("tokens", by=_are_words, what="a list of different strings")
        special = ("padding", "unknown", "start", "end")
        self._check(*special, by=lambda value: _is_text(value) and value in self.tokens, what="one of the tokens")
        self._check_counts(beam_size=1, max_steps=1)
        self._check(
            "plan_rules",
            by=lambda value: isinstance(value, bool) or (isinstance(value, list | tuple) and all(map(_is_text, value))),
            what="true, false or a list of names",
        )
        check_penalty(self.coverage_penalty)


_KINDS: Mapping[str, type[BundleConfig]] = {kind.kind: kind for kind in (GraphConfig, Seq2SeqConfig)}


def is_bundle(folder: Path) -> bool:
    """Whether a folder looks like a bundle, complete or not."""
    return (folder / _CONFIG).is_file() and not (folder / "model.tar.gz").is_file()


def read_config(folder: Path) -> BundleConfig:
    """The config of a folder, after checking that its other files are those that it was written with."""
    path = folder / _CONFIG
    values = read_json(path, "the config of a bundled parser")
    if not isinstance(values, dict) or not isinstance(values.get("checksums"), dict):
        raise DataError(f"{path}: not the config of a bundled parser")
    # To Python, JSON's true equals 1.
    if (version := values.pop("format", None)) != _FORMAT or isinstance(version, bool):
        raise DataError(f"{path}: this parser was bundled for another version of qdecomp; bundle it again")
    checksums = values.pop("checksums")
    try:
        config = _config_from_json(values)
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    for name in _files(config):
        if _checksum(folder / name) != checksums.get(name):
            raise DataError(f"{folder / name}: damaged, or part of another parser; install qdecomp again")
    return config


def write_config(folder: Path, config: BundleConfig) -> None:
    """Write the config of a folder whose other files exist, completely or not at all."""
    values = {"format": _FORMAT, "kind": config.kind} | {
        field.name: getattr(config, field.name) for field in fields(config)
    }
    values["checksums"] = {name: _checksum(folder / name) for name in _files(config)}
    written = folder / f"{_CONFIG}.new"
    written.write_text(json.dumps(values, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    written.replace(folder / _CONFIG)


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
    for field_name in values:
        if field_name not in known:
            raise DataError(f"there is no field {_shown(field_name)}")
    for field_name, is_needed in known.items():
        if is_needed and field_name not in values:
            raise DataError(f"there is no {field_name}")
    given: dict[str, Any] = {each: tuple(value) if isinstance(value, list) else value for each, value in values.items()}
    return _KINDS[name](**given)


def _files(config: BundleConfig) -> Sequence[str]:
    return (VOCABULARY, WEIGHTS, CARD, *config.graphs)


def _checksum(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); install qdecomp again") from None


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _are_words(values: Any) -> bool:
    return isinstance(values, tuple) and all(map(_is_text, values)) and len(set(values)) == len(values)
