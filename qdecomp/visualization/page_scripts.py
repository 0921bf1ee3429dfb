"""The script of pages, from the files in `scripts/`. It is written into the page, which allows no other script."""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache
from importlib import resources

__all__ = ["clipboard_module", "content_policy", "page_script"]


def _script(name: str) -> str:
    return resources.files(__package__).joinpath("scripts", name).read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def _source() -> str:
    return _script("page.js") + _script("clipboard.js")


def clipboard_module() -> str:
    """The function ``copyText`` as a module, for pages that import their scripts."""
    return f"{_script('clipboard.js')}export {{ copyText }};\n"


def page_script() -> str:
    """The script element for the end of a page."""
    return f"<script>{_source()}</script>"


@lru_cache(maxsize=1)
def content_policy() -> str:
    """The element for the head of a page that forbids all other scripts, and everything from other hosts."""
    digest = base64.b64encode(hashlib.sha256(_source().encode()).digest()).decode()
    policy = f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; base-uri 'none'"
    return f'<meta http-equiv="Content-Security-Policy" content="{policy}; form-action \'none\'">'
