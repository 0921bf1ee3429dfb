"""The files of the page, read from the package once."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from qdecomp.visualization.page_scripts import clipboard_module
from qdecomp.visualization.style_sheets import style

__all__ = ["PageFile", "page_files"]

_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


@dataclass(frozen=True, slots=True)
class PageFile:
    """What is sent for a file, with a tag that changes when the file does."""

    content: bytes
    media_type: str

    @property
    def tag(self) -> str:
        """The value for ``ETag``."""
        return f'"{hashlib.sha256(self.content).hexdigest()[:16]}"'


@lru_cache(maxsize=1)
def page_files() -> Mapping[str, PageFile]:
    """The files by name, with those that all pages share: ``pictures.css`` and ``clipboard.js``."""
    found = {}
    for path in resources.files(__package__).joinpath("page").iterdir():
        media_type = _TYPES.get(f".{path.name.rpartition('.')[2]}")
        if media_type is not None:
            found[path.name] = PageFile(path.read_bytes(), f"{media_type}; charset=utf-8")
    pictures = style("picture").removeprefix("<style>").removesuffix("</style>")
    found["pictures.css"] = PageFile(pictures.encode(), "text/css; charset=utf-8")
    found["clipboard.js"] = PageFile(clipboard_module().encode(), "text/javascript; charset=utf-8")
    return found
