"""What all pictures share: the frame of an SVG, arrow heads, and texts.

Texts are made safe for markup, measured without a font, and cut or wrapped to fit.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from math import hypot
from typing import TYPE_CHECKING

from qdecomp.visualization.assets import style

if TYPE_CHECKING:
    from typing_extensions import Self

_ARROW_LENGTH = 7.0
_ARROW_HALF_WIDTH = 3.6
_GAP = 12.0
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


class Picture(str):
    """An SVG, with its size in pixels."""

    width: float
    height: float

    def __new__(cls, text: str, width: float = 0.0, height: float = 0.0) -> Self:  # noqa: D102
        picture = super().__new__(cls, text)
        picture.width, picture.height = width, height
        return picture


def frame(content: Iterable[str], width: float, height: float, *, title: str, kind: str, with_style: bool) -> Picture:
    """A whole picture."""
    rules = style("picture") if with_style else ""
    across, down = number(width), number(height)
    return Picture(
        f'<svg xmlns="http://www.w3.org/2000/svg" class="qdecomp {kind}" role="img" style="--qd-width:{across}px" '
        f'width="{across}" height="{down}" viewBox="0 0 {across} {down}">'
        f'<title>{escape(title)}</title>{rules}<rect class="qd-paper" width="100%" height="100%" rx="6"/>'
        f"{''.join(content)}</svg>",
        float(across),
        float(down),
    )


def stacked_svg(pictures: Sequence[Picture]) -> Picture:
    """One SVG with several pictures of this package below one another; a single one stays as it is."""
    if len(pictures) == 1:
        return pictures[0]
    parts, top, widest = [], 0.0, 0.0
    for picture in pictures:
        parts.append(picture.replace("<svg ", f'<svg y="{number(top)}" ', 1))
        top += picture.height + _GAP
        widest = max(widest, picture.width)
    across, down = number(widest), number(top - _GAP)
    start = f'<svg xmlns="http://www.w3.org/2000/svg" width="{across}" height="{down}"'
    return Picture(f'{start} viewBox="0 0 {across} {down}">{"".join(parts)}</svg>', widest, top - _GAP)


def number(value: float) -> str:
    """A coordinate, without decimals too small to see."""
    return f"{value:.1f}".removesuffix(".0")


def centred_text(text: str, x: float, y: float, classes: str) -> str:
    """A line of text around ``x``; ``y`` is its baseline. Scripts from right to left do not disturb others."""
    return f'<text class="{classes}" x="{number(x)}" y="{number(y)}" direction="ltr">{escape(text)}</text>'


def arrow_head(x: float, y: float, from_x: float, from_y: float) -> str:
    """A triangle with its tip at a point, pointing away from another one."""
    length = hypot(x - from_x, y - from_y) or 1.0
    dx, dy = (x - from_x) / length, (y - from_y) / length
    base_x, base_y = x - _ARROW_LENGTH * dx, y - _ARROW_LENGTH * dy
    corners = (
        (x, y),
        (base_x - _ARROW_HALF_WIDTH * dy, base_y + _ARROW_HALF_WIDTH * dx),
        (base_x + _ARROW_HALF_WIDTH * dy, base_y - _ARROW_HALF_WIDTH * dx),
    )
    return f'<path class="qd-head" d="M{"L".join(f"{number(cx)} {number(cy)}" for cx, cy in corners)}z"/>'


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
