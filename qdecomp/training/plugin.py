"""Makes the project known to the ``allennlp`` command; ``.allennlp_plugins`` names this module.

Importing it imports torch and AllenNLP. You do not need it to convert, score or parse.
"""

from __future__ import annotations

from qdecomp.training import commands, register_components

register_components()
commands.install()
