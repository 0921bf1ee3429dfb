"""All that needs AllenNLP: dataset readers, modules, models, predictors, and the plugin that registers them."""

import importlib
import pkgutil
import warnings

__all__ = ["register_components"]

# AllenNLP imports torchvision, which warns that it cannot read images; it need not.
warnings.filterwarnings("ignore", "Failed to load image Python extension")


def register_components() -> None:
    """Import every module of the package, and with them torch and AllenNLP, so that configs find components by name."""
    for module in pkgutil.iter_modules(__path__, f"{__name__}."):
        if not module.name.endswith(".plugin"):
            importlib.import_module(module.name)
