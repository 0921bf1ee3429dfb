"""What is compared: the paper's three parsers, and the ways of making their predictions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

__all__ = ["PARSERS", "SYSTEMS", "System"]

PARSERS: tuple[str, ...] = ("copynet", "biaffine", "latent_rat")
"""What is trained."""


@dataclass(frozen=True, slots=True)
class System:
    """A trained parser and how it decodes; ``overrides`` change its archive's config for the prediction."""

    name: str
    title: str
    parser: str
    overrides: Mapping[str, Any] = field(default_factory=dict)
    in_agreement: bool = True
    """Whether it takes part in comparisons of agreement, which have a column for every subset."""


SYSTEMS: Mapping[str, System] = MappingProxyType(
    {
        system.name: system
        for system in (
            System("copynet", "CopyNet-BERT", "copynet"),
            System("biaffine", "BiaffineGP", "biaffine"),
            # The same training run twice: it would agree with itself.
            System("biaffine_ilp", "BiaffineGP + ILP", "biaffine", {"model.decoder": "ilp"}, in_agreement=False),
            System("latent_rat", "Latent-RAT", "latent_rat"),
        )
    }
)
"""What is predicted with, by name; each is a row of the tables."""
