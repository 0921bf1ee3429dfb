"""Makes text from outside safe to print on a terminal.

A question, an id or the name of a file may hold escape sequences, which would move the cursor, change the title of the
window or worse. Everything of that kind is printed through one of these functions.
"""

from __future__ import annotations

import re
import sys

import click

__all__ = ["echo_data", "printable"]

# Control characters (a line break and a tab are harmless), marks that turn the direction of the text around, and
# halves of characters, which cannot be encoded.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_UNENCODABLE = re.compile("[\ud800-\udfff]")


def printable(text: str) -> str:
    r"""The text with what is no character to read as an escape, which JSON reads, too.

    >>> print(printable("red \x1b[31m cubes"))
    red \u001b[31m cubes
    """
    return _UNPRINTABLE.sub(_escape, text)


def echo_data(text: str) -> None:
    """Print what another program may read: as it is, but without control characters if a terminal would obey them."""
    unwanted = _UNPRINTABLE if sys.stdout.isatty() else _UNENCODABLE
    # With color, as click would cut out what looks like a colour.
    click.echo(unwanted.sub(_escape, text), color=True)


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"
