"""Registers every component of the project with AllenNLP, so that configs and archives find them by name."""

from __future__ import annotations

import importlib
import pkgutil

import qdecomp.training

__all__ = ["register_components"]


def register_components() -> None:
    """Import every module of the package, and with them torch and AllenNLP; the plugin imports this one."""
    for module in pkgutil.iter_modules(qdecomp.training.__path__, "qdecomp.training."):
        if not module.name.endswith(".plugin"):
            importlib.import_module(module.name)
