"""What all pictures share: the frame of an SVG, arrow heads, and texts.

Texts are made safe for markup, measured without a font, and cut or wrapped to fit.
"""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain
from math import hypot

from qdecomp.visualization.assets import Html, representable, style

_ARROW_LENGTH = 7.0
_ARROW_HALF_WIDTH = 3.6
_GAP = 12.0
_ELLIPSIS = "…"

# Widths in ems for sans-serif fonts, rather too wide: a picture is drawn with whatever font is available.
_NARROW = frozenset("ijlIftr.,:;'|!()[]{}-/\\ ")
_BROAD = frozenset("mwMW@%&—…")
_WIDE = 1.3
_LATIN = ((_NARROW, 0.42), (_BROAD, 1.0))


class Picture(Html):
    """An SVG, with its size in pixels."""

    width: float
    height: float


def _svg(content: Iterable[str], width: float, height: float, attributes: str = "") -> Picture:
    across, down = number(width), number(height)
    picture = Picture(
        f'<svg xmlns="http://www.w3.org/2000/svg"{attributes} '
        f'width="{across}" height="{down}" viewBox="0 0 {across} {down}">{"".join(content)}</svg>'
    )
    picture.width, picture.height = float(across), float(down)
    return picture


def frame(content: Iterable[str], width: float, height: float, *, title: str, kind: str, with_style: bool) -> Picture:
    """A whole picture."""
    attributes = f' class="qdecomp {kind}" role="img" style="--qd-width:{number(width)}px"'
    paper = '<rect class="qd-paper" width="100%" height="100%" rx="6"/>'
    rules = style("picture") if with_style else ""
    return _svg([f"<title>{escape(title)}</title>", rules, paper, *content], width, height, attributes)


def stacked_svg(pictures: Sequence[Picture]) -> Picture:
    """One SVG with several pictures of this package below one another; a single one stays as it is."""
    if len(pictures) == 1:
        return pictures[0]
    tops = [*accumulate((picture.height + _GAP for picture in pictures), initial=0.0)]
    parts = [each.replace("<svg ", f'<svg y="{number(top)}" ', 1) for each, top in zip(pictures, tops, strict=False)]
    return _svg(parts, max((picture.width for picture in pictures), default=0.0), tops[-1] - _GAP)


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
    return html.escape(representable(text))


def width_in_ems(text: str) -> float:
    """About how wide a text can be, as a multiple of its font size."""
    return sum(map(_character_width, text))


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
    fitting = sum(width <= room for width in accumulate(map(_character_width, text)))
    return text[:fitting] + _ELLIPSIS


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
