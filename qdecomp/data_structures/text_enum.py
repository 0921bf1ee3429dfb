"""Enumerations whose members are their texts, as files and messages show them."""

from __future__ import annotations

from enum import Enum

__all__ = ["TextEnum"]


class TextEnum(str, Enum):
    """An enumeration of texts; ``str`` gives the text, as Python's own ``StrEnum`` does from 3.11 on.

    >>> class Colour(TextEnum):
    ...     RED = "red"
    >>> str(Colour.RED), f"{Colour.RED}", Colour.RED == "red"
    ('red', 'red', True)
    """

    # Enum's own hash is written in Python, and operators are looked up for every step.
    __hash__ = str.__hash__
    __str__ = str.__str__
