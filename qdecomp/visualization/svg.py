"""What all pictures share: the frame of an SVG, arrow heads, and numbers and texts as markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import hypot

from qdecomp.visualization.style_sheets import style
from qdecomp.visualization.texts import escape

__all__ = ["arrow_head", "centred_text", "frame", "number", "stacked_svg"]

_ARROW_LENGTH = 7.0
_ARROW_HALF_WIDTH = 3.6
_GAP = 12.0
_SIZE = re.compile(r'<svg\b[^>]* width="(?P<width>[\d.]+)" height="(?P<height>[\d.]+)"')


def frame(content: Iterable[str], width: float, height: float, *, title: str, kind: str, with_style: bool) -> str:
    """A whole picture."""
    rules = style("picture") if with_style else ""
    across, down = number(width), number(height)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="qdecomp {kind}" role="img" style="--qd-width:{across}px" '
        f'width="{across}" height="{down}" viewBox="0 0 {across} {down}">'
        f'<title>{escape(title)}</title>{rules}<rect class="qd-paper" width="100%" height="100%" rx="6"/>'
        f"{''.join(content)}</svg>"
    )


def stacked_svg(pictures: Sequence[str]) -> str:
    """One SVG with several pictures of this package below one another; a single one stays as it is."""
    if len(pictures) < 2:
        return "".join(pictures)
    parts, top, widest = [], 0.0, 0.0
    for picture in pictures:
        size = _SIZE.match(picture)
        if size is None:
            raise ValueError(f"not a picture of this package: {picture[:80]!r}")
        parts.append(picture.replace("<svg ", f'<svg y="{number(top)}" ', 1))
        top += float(size["height"]) + _GAP
        widest = max(widest, float(size["width"]))
    across, down = number(widest), number(top - _GAP)
    frame_start = f'<svg xmlns="http://www.w3.org/2000/svg" width="{across}" height="{down}"'
    return f'{frame_start} viewBox="0 0 {across} {down}">{"".join(parts)}</svg>'


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
