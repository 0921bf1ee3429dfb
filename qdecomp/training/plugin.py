"""Makes the project known to the ``allennlp`` command; ``.allennlp_plugins`` names this module.

Importing it imports torch and AllenNLP. You do not need it to convert, score or parse.
"""

from __future__ import annotations

from qdecomp.training import command
from qdecomp.training.registration import register_components

__all__: list[str] = []

register_components()
command.install()
