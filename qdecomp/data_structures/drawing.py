"""Values that notebooks show as pictures.

A value knows nothing about pictures: the room that draws them is above this one, and is loaded by its name when
something is shown.
"""

from __future__ import annotations

from importlib import import_module

_DRAWN_BY = "qdecomp.visualization"


class Drawn:
    """The base of what a notebook shows as a picture."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(import_module(_DRAWN_BY).value_html(self))
