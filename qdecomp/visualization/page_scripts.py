"""The script of pages, a file in `scripts/`. It is written into the page, which allows no other script."""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache
from importlib import resources

__all__ = ["content_policy", "page_script"]


@lru_cache(maxsize=1)
def _source() -> str:
    return resources.files(__package__).joinpath("scripts", "page.js").read_text(encoding="utf-8")


def page_script() -> str:
    """The script element for the end of a page."""
    return f"<script>{_source()}</script>"


@lru_cache(maxsize=1)
def content_policy() -> str:
    """The element for the head of a page that forbids all other scripts, and everything from other hosts."""
    digest = base64.b64encode(hashlib.sha256(_source().encode()).digest()).decode()
    policy = f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; base-uri 'none'"
    return f'<meta http-equiv="Content-Security-Policy" content="{policy}; form-action \'none\'">'
