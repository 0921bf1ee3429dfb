"""The tags of graph edges: ``operator-argument[properties]``, and the three that only connect tokens.

A step's tokens are chained by ``span`` edges; a ``duplicate`` edge goes from a ``[DUP]`` token to a token that it
copies; an ``unused`` edge goes from the last step to a step that no other step refers to (people do write such steps),
so that every graph has one root.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from qdecomp.data_structures.errors import GraphError, Reason
from qdecomp.data_structures.limits import cache_short
from qdecomp.data_structures.operators import OPERATORS, Operator

SPAN, DUPLICATE, UNUSED = "span", "duplicate", "unused"
STRUCTURAL_TAGS = (SPAN, DUPLICATE, UNUSED)
"""The tags that only connect tokens; all others name an argument of an operator."""

_TAG = re.compile(r"(?P<operator>[a-z]+)-(?P<argument>[a-z]+)(?:\[(?P<properties>[a-z0-9,-]+)\])?")
_SEVERAL = "&"


@dataclass(frozen=True, slots=True, order=True)
class EdgeTag:
    """What a reference means: the operator and properties of the step that refers, and the argument it fills."""

    operator: Operator
    argument: str
    properties: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        signature = OPERATORS[self.operator]
        if self.argument not in signature.arguments:
            raise GraphError("tag", Reason("{} has no argument {!r}", self.operator, self.argument))
        for name in self.properties:
            if name not in signature.properties:
                raise GraphError("tag", Reason("{} has no property {!r}", self.operator, name))
        object.__setattr__(self, "properties", tuple(sorted(set(self.properties))))

    def __str__(self) -> str:
        return format_tag(self)


@lru_cache(maxsize=4096)
def format_tag(tag: EdgeTag) -> str:
    """Write a tag, such as ``aggregate-arg[count]``."""
    properties = f"[{','.join(tag.properties)}]" if tag.properties else ""
    return f"{tag.operator.value}-{tag.argument}{properties}"


@cache_short(entries=4096, longest=100)
def parse_tag(text: str) -> EdgeTag:
    """Read a tag that is not structural."""
    match = _TAG.fullmatch(text)
    if match is None:
        raise GraphError("tag", Reason("expected operator-argument[properties], got {!r}", text))
    try:
        operator = Operator(match["operator"])
    except ValueError:
        raise GraphError("tag", Reason("there is no operator {!r} (in {!r})", match["operator"], text)) from None
    return EdgeTag(operator, match["argument"], tuple(filter(None, (match["properties"] or "").split(","))))


def join_tags(tags: Iterable[str]) -> str:
    """The one label of a token pair with several tags, ``group-key&group-value``."""
    return _SEVERAL.join(sorted(tags))


def split_tags(label: str) -> tuple[str, ...]:
    """The tags that :func:`join_tags` joined into one label."""
    return tuple(label.split(_SEVERAL))


def tag_vocabulary() -> tuple[str, ...]:
    """Every tag with at most one property, in a fixed order: the structural ones, then the operators' own."""
    tags = [
        EdgeTag(operator, argument, properties)
        for operator, signature in OPERATORS.items()
        for argument in signature.arguments
        for properties in [(), *((name,) for name in signature.properties)]
        if operator is not Operator.SELECT
    ]
    return (*STRUCTURAL_TAGS, *map(format_tag, tags))
