"""Texts in pictures: made safe for markup, measured without a font, and cut or wrapped to fit."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain

__all__ = ["escape", "replace_unprintable", "shorten", "width_in_ems", "wrap"]

# XML cannot represent these at all; a lone surrogate cannot even be saved.
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ELLIPSIS = "…"
# They are not visible, but emoji and some scripts need them.
_JOINERS = frozenset("\u200c\u200d")

# Widths in ems for sans-serif fonts, rather too wide: a picture is drawn with whatever font is available.
_NARROW = frozenset("ijlIftr.,:;'|!()[]{}-/\\ ")
_BROAD = frozenset("mwMW@%&—…")
_WIDE = 1.3
_LATIN = ((_NARROW, 0.42), (_BROAD, 1.0))


def escape(text: str) -> str:
    """The text for XML and HTML, inside elements and attributes; what XML cannot hold becomes U+FFFD.

    >>> escape('<b> & "c" \\x00')
    '&lt;b&gt; &amp; &quot;c&quot; \ufffd'
    """
    return html.escape(_NOT_IN_XML.sub("\ufffd", text))


def replace_unprintable(text: str) -> str:
    """The text for a terminal: what would control the terminal or reverse the line becomes U+FFFD.

    >>> replace_unprintable("red\\x1b[31m")
    'red�[31m'
    """
    return "".join(character if character.isprintable() or character in _JOINERS else "\ufffd" for character in text)


def width_in_ems(text: str) -> float:
    """About how wide a text can be, as a multiple of its font size."""
    return sum(map(_character_width, text))


@lru_cache(maxsize=4096)
def _character_width(character: str) -> float:
    for characters, width in _LATIN:
        if character in characters:
            return width
    if character < "\u0300":
        return 0.8 if character.isupper() else 0.64
    if unicodedata.east_asian_width(character) in "WF" or character >= "\U0001f000":
        return _WIDE
    # Marks go on other letters, but a font without them shows a separate box.
    return 0.4 if unicodedata.category(character).startswith("M") else 0.9


def shorten(text: str, ems: float) -> str:
    """The text, cut off with an ellipsis if it is wider than that."""
    if width_in_ems(text) <= ems:
        return text
    room = ems - width_in_ems(_ELLIPSIS)
    kept = ""
    for character in text:
        room -= _character_width(character)
        if room < 0:
            break
        kept += character
    return kept + _ELLIPSIS


def wrap(text: str, ems: float, max_lines: int) -> tuple[str, ...]:
    """The text in lines of at most that width; a wider word is broken, and surplus lines are cut off.

    >>> wrap("the number of red cubes", 9, 5)
    ('the number of', 'red cubes')
    """
    lines: list[str] = []
    for part in chain.from_iterable(_broken(word, ems) for word in text.split()):
        if lines and width_in_ems(f"{lines[-1]} {part}") <= ems:
            lines[-1] += f" {part}"
        else:
            lines.append(part)
    if len(lines) > max_lines:
        lines[max_lines - 1 :] = [shorten(f"{lines[max_lines - 1]} {_ELLIPSIS}", ems)]
    return tuple(lines)


def _broken(word: str, ems: float) -> Iterator[str]:
    part = ""
    for character in word:
        if part and width_in_ems(part + character) > ems:
            yield part
            part = ""
        part += character
    yield part
