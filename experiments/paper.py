"""The paper's own figures, from ``paper_figures.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from .systems import SYSTEMS

__all__ = ["figures_of", "place_of"]


@cache
def _all() -> Mapping[str, Any]:
    values: Mapping[str, Any] = json.loads((Path(__file__).parent / "paper_figures.json").read_text(encoding="utf-8"))
    return values


def place_of(table: str) -> str:
    """Where the figures are in the paper."""
    return str(_all()[table]["where"])


def figures_of(table: str) -> dict[str, dict[str, float]]:
    """The figures of a table by row and column; the rows have the titles of the systems."""
    titles = {name: system.title for name, system in SYSTEMS.items()}
    return {titles.get(row, row): dict(figures) for row, figures in _all()[table]["figures"].items()}
