"""Registers every component of the project with AllenNLP; ``.allennlp_plugins`` names this module.

Importing it imports torch and AllenNLP. Who only converts or scores has no need of it.
"""

from __future__ import annotations

import importlib.util
import pkgutil

from qdecomp.training import allennlp_command

__all__: list[str] = []

# The packages whose modules register readers, models, predictors and the like. Each of their modules is imported.
_PACKAGES = ("data", "modules", "models", "training", "predictors")


def _import_modules(package_name: str) -> None:
    package = importlib.import_module(package_name)
    for module in pkgutil.walk_packages(package.__path__, f"{package_name}."):
        importlib.import_module(module.name)


for _name in _PACKAGES:
    if importlib.util.find_spec(f"qdecomp.{_name}") is not None:
        _import_modules(f"qdecomp.{_name}")
allennlp_command.install()
