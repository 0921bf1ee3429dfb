"""The style sheets and scripts that pictures and pages carry inside them, from the files in `styles/` and `scripts/`.

A page allows no script but its own, which is written into it.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import lru_cache
from importlib import resources

from qdecomp.visualization.colours import colour_css

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


@lru_cache(maxsize=8)
def style(*names: str) -> str:
    """A style element with the colours and these sheets: ``picture``, ``fragment``, ``tools``, ``page``."""
    folder = resources.files(__package__).joinpath("styles")
    sheets = (folder.joinpath(f"{name}.css").read_text(encoding="utf-8") for name in names)
    rules = " ".join(_COMMENT.sub("", "".join(sheets)).split())
    return f"<style>{colour_css()}{rules}</style>"


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
