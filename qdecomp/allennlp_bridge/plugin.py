"""Makes the project known to the ``allennlp`` command; ``.allennlp_plugins`` names this module.

Importing it imports torch and AllenNLP. Who only converts, scores or parses has no need of it.
"""

from __future__ import annotations

from . import command
from .registration import register_components

__all__: list[str] = []

register_components()
command.install()
