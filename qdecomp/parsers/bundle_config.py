"""What else a bundled parser needs besides its weights, for each kind of parser."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.special_tokens import SpecialTokens
from qdecomp.decoding import DecoderSettings
from qdecomp.decoding.coverage import check_penalty
from qdecomp.parsers.plan_rules import RuleNames

__all__ = ["KINDS", "BundleConfig", "GraphConfig", "WriterConfig", "config_from_json"]

# No parser has more of anything than this; a config that says otherwise would only exhaust the memory.
_MOST = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleConfig:
    """What all kinds share; everything is as ``json`` gives it."""

    kind: ClassVar[str]
    tuples: ClassVar[tuple[str, ...]] = ()
    """The fields that are lists in JSON."""

    name: str
    encoder: str
    heads: int
    epsilon: float
    max_pieces: int
    scores: Mapping[str, Any]
    """What was measured, as on the card."""
    calibration: Mapping[str, Any] | None = None
    """How confidence is computed, see :mod:`qdecomp.parsers.calibration`."""
    sizes: Mapping[str, int] | None = None
    """How wide the layers are and how many there are, see :mod:`qdecomp.parsers.schema`."""

    def __post_init__(self) -> None:
        _check_texts(self, "name", "encoder")
        _check_counts(self, heads=1, max_pieces=3)
        if not _is_number(self.epsilon) or not 0 < self.epsilon < 1:
            raise DataError(f"epsilon is {self.epsilon!r}; it must be a number between 0 and 1")
        for name in ("scores", "calibration", "sizes"):
            value = getattr(self, name)
            if not isinstance(value, Mapping) and (value is not None or name == "scores"):
                raise DataError(f"{name} is {_shown(value)}; it must be an object")
        for name, size in (self.sizes or {}).items():
            if not _is_count(size, 1, 100 * _MOST):
                raise DataError(f"sizes: {name} is {_shown(size)}; it must be a whole number, 1 or more")


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphConfig(BundleConfig):
    """A parser that predicts a graph."""

    kind: ClassVar[str] = "graph"
    tuples: ClassVar[tuple[str, ...]] = ("resources", "labels")

    special_heads: int
    resources: tuple[str, ...]
    duplicates: int
    dummies: int
    labels: tuple[str, ...]
    decoder: DecoderSettings

    def __post_init__(self) -> None:
        BundleConfig.__post_init__(self)
        _check_words(self, "resources")
        _check_words(self, "labels")
        _check_counts(self, special_heads=1, duplicates=0, dummies=0)
        if not isinstance(self.decoder, str | Mapping):
            raise DataError(f"decoder is {_shown(self.decoder)}; it must be a name or an object")

    @property
    def special_tokens(self) -> SpecialTokens:
        """The tokens that are appended to every question."""
        return SpecialTokens(self.resources, self.duplicates, self.dummies)


@dataclass(frozen=True, slots=True, kw_only=True)
class WriterConfig(BundleConfig):
    """A parser that writes the decomposition token by token."""

    kind: ClassVar[str] = "writer"
    tuples: ClassVar[tuple[str, ...]] = ("tokens",)

    tokens: tuple[str, ...]
    """What can be written, in the order of their ids."""
    padding: str
    unknown: str
    start: str
    end: str
    beam_size: int
    max_steps: int
    plan_rules: RuleNames
    coverage_penalty: float = 0.0
    """What each word of the question that a plan leaves out takes off the plan's score."""

    def __post_init__(self) -> None:
        BundleConfig.__post_init__(self)
        _check_words(self, "tokens")
        _check_texts(self, "padding", "unknown", "start", "end")
        for name in ("padding", "unknown", "start", "end"):
            if getattr(self, name) not in self.tokens:
                raise DataError(f"{name} is {getattr(self, name)!r}, which is not one of the tokens")
        _check_counts(self, beam_size=1, max_steps=1)
        rules = self.plan_rules
        if not isinstance(rules, bool | list | tuple) or not (isinstance(rules, bool) or _are_texts(rules)):
            raise DataError(f"plan_rules is {_shown(rules)}; it must be true, false or a list of names")
        check_penalty(self.coverage_penalty)


KINDS: Mapping[str, type[BundleConfig]] = {kind.kind: kind for kind in (GraphConfig, WriterConfig)}
"""The config classes by kind of parser."""


def config_from_json(values: Mapping[str, Any]) -> BundleConfig:
    """The config from a JSON object; a :class:`DataError` names the wrong field."""
    given = dict(values)
    name = given.pop("kind", GraphConfig.kind)
    if not isinstance(name, str) or name not in KINDS:
        raise DataError(f"kind is {_shown(name)}; it must be one of {', '.join(KINDS)}")
    kind = KINDS[name]
    known = {field.name: field.default is MISSING for field in fields(kind)}
    for field_name in given:
        if field_name not in known:
            raise DataError(f"there is no field {_shown(field_name)}")
    for field_name, needed in known.items():
        if needed and field_name not in given:
            raise DataError(f"there is no {field_name}")
    for field_name in kind.tuples:
        if not isinstance(given[field_name], list):
            raise DataError(f"{field_name} is {_shown(given[field_name])}; it must be a list")
        given[field_name] = tuple(given[field_name])
    return kind(**given)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _is_number(value: Any) -> bool:
    return (
        isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300 and math.isfinite(value)
    )


def _is_count(value: Any, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _are_texts(values: Any) -> bool:
    return all(isinstance(value, str) and value for value in values)


def _check_texts(config: BundleConfig, *names: str) -> None:
    for name in names:
        if not isinstance(value := getattr(config, name), str) or not value:
            raise DataError(f"{name} is {_shown(value)}; it must be a string")


def _check_counts(config: BundleConfig, **least: int) -> None:
    for name, minimum in least.items():
        if not _is_count(value := getattr(config, name), minimum, _MOST):
            raise DataError(f"{name} is {_shown(value)}; it must be a whole number from {minimum} to {_MOST:,}")


def _check_words(config: BundleConfig, name: str) -> None:
    words = getattr(config, name)
    if not _are_texts(words) or len(set(words)) != len(words):
        raise DataError(f"{name} is {_shown(words)}; it must be a list of different strings")
