"""Registers every component of the project with AllenNLP, so that configs and archives find them by name."""

from __future__ import annotations

import importlib
import pkgutil

__all__ = ["register_components"]

# The packages whose modules register readers, models, predictors and the like.
_PACKAGES = ("data", "modules", "models", "training", "predictors")
# The module here that registers components, because it connects AllenNLP with the runtime.
_MODULES = ("allennlp_bridge.bundle_weights",)


def register_components() -> None:
    """Import every module of these packages, and with them torch and AllenNLP."""
    for name in _MODULES:
        importlib.import_module(f"qdecomp.{name}")
    for name in _PACKAGES:
        package = importlib.import_module(f"qdecomp.{name}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
