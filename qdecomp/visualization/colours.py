"""The colours of operators and structural edges: one table for pictures and pages.

A picture has every colour twice, for light and for dark backgrounds; ``prefers-color-scheme`` decides. All of
them have a contrast of at least 4.5 to 1 on the backgrounds below.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from qdecomp.data_structures.edge_tags import DUPLICATE, SPAN, STRUCTURAL_TAGS, UNUSED, parse_tag
from qdecomp.data_structures.errors import GraphError
from qdecomp.data_structures.limits import cache_short
from qdecomp.data_structures.operators import Operator

UNKNOWN = "unknown"
"""The kind of an edge with an unknown tag."""


@dataclass(frozen=True, slots=True)
class Colour:
    """A colour on light and on dark backgrounds."""

    light: str
    dark: str


COLOURS: Mapping[str, Colour] = MappingProxyType(
    {
        Operator.SELECT.value: Colour("#44546a", "#a9bad2"),
        Operator.FILTER.value: Colour("#0b63b0", "#6cb6f5"),
        Operator.PROJECT.value: Colour("#00716b", "#3fc8bd"),
        Operator.AGGREGATE.value: Colour("#b0420a", "#ff9d61"),
        Operator.GROUP.value: Colour("#835700", "#e5b64f"),
        Operator.SUPERLATIVE.value: Colour("#ad1f68", "#ff8abf"),
        Operator.COMPARATIVE.value: Colour("#7430b8", "#c7a0ff"),
        Operator.COMPARISON.value: Colour("#4740c9", "#aaa8ff"),
        Operator.UNION.value: Colour("#23742b", "#75cf78"),
        Operator.INTERSECTION.value: Colour("#4c6b00", "#abd04c"),
        Operator.DISCARD.value: Colour("#b3261e", "#ff938a"),
        Operator.SORT.value: Colour("#6b5837", "#cdb88e"),
        Operator.BOOLEAN.value: Colour("#8a1a94", "#ee8ff6"),
        Operator.ARITHMETIC.value: Colour("#7a4526", "#dba681"),
        SPAN: Colour("#676c74", "#9aa0a8"),
        DUPLICATE: Colour("#566a80", "#8fa5bf"),
        UNUSED: Colour("#75655c", "#b0a096"),
        UNKNOWN: Colour("#1b1b1b", "#e8e8e8"),
    }
)

SURFACES: Mapping[str, Colour] = MappingProxyType(
    {
        "paper": Colour("#ffffff", "#16181c"),
        "raised": Colour("#f5f6f8", "#202329"),
        "ink": Colour("#1b1b1b", "#e8e8e8"),
        "quiet": Colour("#5c6066", "#a8adb4"),
        "good": Colour("#1c6b2a", "#74d07c"),
        "bad": Colour("#b3261e", "#ff938a"),
        "faint": Colour("#d3d6da", "#474b52"),
    }
)
"""What lies behind and around: ``paper`` and ``raised`` are backgrounds, ``faint`` is for lines, the rest for text."""


@cache_short(entries=1024, longest=100)
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
def colour_css() -> str:
    """Style rules that give elements inside the class ``qdecomp`` their colours, for light and dark mode.

    An element of the class ``qd-filter`` has the colour of filter steps as its ``color``; the surfaces are the
    variables ``--qd-paper``, ``--qd-ink`` and so on.
    """
    colours = {**SURFACES, **COLOURS}
    light = ";".join(f"--qd-{name}:{colour.light}" for name, colour in colours.items())
    dark = ";".join(f"--qd-{name}:{colour.dark}" for name, colour in colours.items())
    kinds = "".join(f".qdecomp .qd-{kind}{{color:var(--qd-{kind})}}" for kind in COLOURS)
    # Paper is white, whatever the screen is.
    return f".qdecomp{{{light}}}@media screen and (prefers-color-scheme:dark){{.qdecomp{{{dark}}}}}{kinds}"
