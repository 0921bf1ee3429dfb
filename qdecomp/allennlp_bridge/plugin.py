"""Imports :mod:`qdecomp.training.plugin`.

``--include-package qdecomp`` imports this module first, by the alphabet, and what it installs stops there: other
modules of the package need libraries that need not be installed.
"""

from __future__ import annotations

import qdecomp.training.plugin  # noqa: F401
