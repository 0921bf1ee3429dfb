"""Makes text from outside safe to print on a terminal.

A question, an id or a file name may contain escape sequences, which would move the cursor, change the title of the
window or worse. All such text is printed through one of these functions.
"""

from __future__ import annotations

import re
import sys

import click

__all__ = ["echo_data", "printable"]

# Control characters (a line break and a tab are harmless), marks that reverse the direction of the text, and halves of
# characters, which cannot be encoded.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_UNENCODABLE = re.compile("[\ud800-\udfff]")


def printable(text: str) -> str:
    r"""The text with unprintable characters as escapes, which JSON can read, too.

    >>> print(printable("red \x1b[31m cubes"))
    red \u001b[31m cubes
    """
    return _UNPRINTABLE.sub(_escape, text)


def echo_data(text: str) -> None:
    """Print what another program may read: as it is, but without control characters if it goes to a terminal."""
    unwanted = _UNPRINTABLE if sys.stdout.isatty() else _UNENCODABLE
    # With color, because click would remove what looks like a colour.
    click.echo(unwanted.sub(_escape, text), color=True)


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"
