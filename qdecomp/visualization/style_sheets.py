"""The style sheets of pictures, fragments and pages, one file each in `styles/`."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import resources

from qdecomp.visualization.colours import colour_css

__all__ = ["style"]

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


@lru_cache(maxsize=8)
def style(*names: str) -> str:
    """A style element with the colours and these sheets: ``picture``, ``fragment``, ``tools``, ``page``."""
    folder = resources.files(__package__).joinpath("styles")
    sheets = (folder.joinpath(f"{name}.css").read_text(encoding="utf-8") for name in names)
    rules = " ".join(_COMMENT.sub("", "".join(sheets)).split())
    return f"<style>{colour_css()}{rules}</style>"
