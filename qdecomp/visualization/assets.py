"""What pictures and pages are made with: colours, style sheets, the one script, and templates.

A picture has every colour twice, for light and for dark backgrounds; ``prefers-color-scheme`` decides. All of
them have a contrast of at least 4.5 to 1 on the backgrounds below.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from qdecomp.data_structures.edge_tags import DUPLICATE, SPAN, STRUCTURAL_TAGS, UNUSED, parse_tag
from qdecomp.data_structures.errors import GraphError
from qdecomp.data_structures.operators import Operator

if TYPE_CHECKING:
    from jinja2 import Environment

UNKNOWN = "unknown"
"""The kind of an edge with an unknown tag."""

COLOURS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        Operator.SELECT.value: ("#44546a", "#a9bad2"),
        Operator.FILTER.value: ("#0b63b0", "#6cb6f5"),
        Operator.PROJECT.value: ("#00716b", "#3fc8bd"),
        Operator.AGGREGATE.value: ("#b0420a", "#ff9d61"),
        Operator.GROUP.value: ("#835700", "#e5b64f"),
        Operator.SUPERLATIVE.value: ("#ad1f68", "#ff8abf"),
        Operator.COMPARATIVE.value: ("#7430b8", "#c7a0ff"),
        Operator.COMPARISON.value: ("#4740c9", "#aaa8ff"),
        Operator.UNION.value: ("#23742b", "#75cf78"),
        Operator.INTERSECTION.value: ("#4c6b00", "#abd04c"),
        Operator.DISCARD.value: ("#b3261e", "#ff938a"),
        Operator.SORT.value: ("#6b5837", "#cdb88e"),
        Operator.BOOLEAN.value: ("#8a1a94", "#ee8ff6"),
        Operator.ARITHMETIC.value: ("#7a4526", "#dba681"),
        SPAN: ("#676c74", "#9aa0a8"),
        DUPLICATE: ("#566a80", "#8fa5bf"),
        UNUSED: ("#75655c", "#b0a096"),
        UNKNOWN: ("#1b1b1b", "#e8e8e8"),
    }
)
"""Of operators and structural edges, on light and on dark backgrounds."""

SURFACES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "paper": ("#ffffff", "#16181c"),
        "raised": ("#f5f6f8", "#202329"),
        "ink": ("#1b1b1b", "#e8e8e8"),
        "quiet": ("#5c6066", "#a8adb4"),
        "good": ("#1c6b2a", "#74d07c"),
        "bad": ("#b3261e", "#ff938a"),
        "faint": ("#d3d6da", "#474b52"),
    }
)
"""What lies behind and around: ``paper`` and ``raised`` are backgrounds, ``faint`` is for lines, the rest for text."""

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
# XML cannot represent these at all; a lone surrogate cannot even be saved.
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def kind_of_tag(tag: str) -> str:
    """The key of an edge's colour: its operator, or the structural tag itself.

    >>> kind_of_tag("aggregate-arg[count]"), kind_of_tag("span"), kind_of_tag("nonsense")
    ('aggregate', 'span', 'unknown')
    """
    if tag in STRUCTURAL_TAGS:
        return tag
    try:
        return parse_tag(tag).operator.value
    except GraphError:
        return UNKNOWN


@lru_cache(maxsize=1)
def _colour_css() -> str:
    """The surfaces as the variables ``--qd-paper`` and so on, and the colours of classes such as ``qd-filter``."""
    colours = {**SURFACES, **COLOURS}
    light, dark = (";".join(f"--qd-{name}:{each[scheme]}" for name, each in colours.items()) for scheme in (0, 1))
    kinds = "".join(f".qdecomp .qd-{kind}{{color:var(--qd-{kind})}}" for kind in COLOURS)
    # Paper is white, whatever the screen is.
    return f".qdecomp{{{light}}}@media screen and (prefers-color-scheme:dark){{.qdecomp{{{dark}}}}}{kinds}"


def _file(folder: str, name: str) -> str:
    return resources.files(__package__).joinpath(folder, name).read_text(encoding="utf-8")


@lru_cache(maxsize=8)
def style_sheet(*names: str) -> str:
    """The colours and these sheets: ``picture``, ``fragment``, ``tools``, ``page``."""
    return _colour_css() + " ".join(_COMMENT.sub("", "".join(_file("styles", f"{name}.css") for name in names)).split())


def style(*names: str) -> Html:
    """A style element with these sheets."""
    return Html(f"<style>{style_sheet(*names)}</style>")


@lru_cache(maxsize=1)
def _source() -> str:
    # On a page that is one file, the shared module is a part of its one script.
    return _file("scripts", "page.js") + _file("scripts", "clipboard.js").replace("export ", "")


def page_script() -> Html:
    """The script element for the end of a page."""
    return Html(f"<script>{_source()}</script>")


@lru_cache(maxsize=1)
def content_policy() -> Html:
    """The element for the head of a page that forbids all other scripts, and everything from other hosts."""
    digest = base64.b64encode(hashlib.sha256(_source().encode()).digest()).decode()
    policy = f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; base-uri 'none'"
    return Html(f'<meta http-equiv="Content-Security-Policy" content="{policy}; form-action \'none\'">')


def representable(text: str) -> str:
    """The text with U+FFFD in place of what XML and HTML cannot hold."""
    return _NOT_IN_XML.sub("\ufffd", text)


class Html(str):
    """Markup, which templates take as it is."""

    def __html__(self) -> str:
        return self


def render(template: str, package: str = __package__, **values: Any) -> Html:
    """A template of a package filled in; whatever comes from data is escaped."""
    return Html(representable(_environment(package).get_template(template).render(values)))


@lru_cache(maxsize=8)
def _environment(package: str) -> Environment:
    # Most of what loads this module writes no HTML.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader(package), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    # Examples are shown as they were written.
    environment.policies["json.dumps_kwargs"] = {}
    environment.globals.update(style=style, content_policy=content_policy, page_script=page_script)
    return environment
