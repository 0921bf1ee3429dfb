"""Checks, before hours of training, that the configs accept the settings that a size changes in them."""

from __future__ import annotations

import warnings
from pathlib import Path

from qdecomp.data_structures.errors import DataError

from .settings import Settings
from .training import overrides_of

__all__ = ["check_configs"]


def check_configs(settings: Settings, base: Path) -> None:
    """Raise if a config cannot be built as it would be trained."""
    with warnings.catch_warnings():
        # Said by torchvision, whose images nobody reads.
        warnings.simplefilter("ignore")
        from allennlp.common import Params
        from allennlp.common.checks import ConfigurationError

        import qdecomp.training.plugin  # noqa: F401

    for name, parser in settings.parsers.items():
        overrides = overrides_of(parser, settings, base, settings.train, settings.seeds[0])
        try:
            Params.from_file(str(parser.config), params_overrides=overrides)
        except ConfigurationError as error:
            raise DataError(f"size {settings.size}: parsers.{name}: {' '.join(str(error).split())}") from None
