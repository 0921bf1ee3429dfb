"""What is to be known of a bundled parser beside its weights, for each kind of parser."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from qdecomp.data_structures.special_tokens import SpecialTokens
from qdecomp.decoding import DecoderSettings
from qdecomp.decoding.plan_rules import RuleNames

__all__ = ["BundleConfig", "GraphConfig", "WriterConfig"]


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
    """What was measured, as the card says it."""
    calibration: Mapping[str, Any] | None = None
    """How confidence is worked out, see :mod:`qdecomp.decoding.calibration`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphConfig(BundleConfig):
    """A parser that draws a graph."""

    kind: ClassVar[str] = "graph"
    tuples: ClassVar[tuple[str, ...]] = ("resources", "labels")

    special_heads: int
    resources: tuple[str, ...]
    duplicates: int
    dummies: int
    labels: tuple[str, ...]
    decoder: DecoderSettings

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
