"""A dependency graph as a picture: the question's words in a row and its edges as arcs above them."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from qdecomp.data_structures.dependency_graph import DependencyGraph
from qdecomp.visualization.arc_layout import ArcLayout, Metrics, PlacedArc, PlacedToken, lay_out_arcs
from qdecomp.visualization.assets import kind_of_tag
from qdecomp.visualization.svg import Picture, arrow_head, centred_text, escape, frame, number, shorten, width_in_ems

_WORD_SIZE = 15
_LABEL_SIZE = 11
_LONGEST_WORD_IN_EMS = 24
_MARGIN = 8
_TOP = 14
_LEVEL_HEIGHT = 23
_CORNER = 9
_ROW_HEIGHT = 36
_SMALLEST_WIDTH = 160
_ARCS_END_ABOVE_ROW = 4


_PIXELS = Metrics(
    token_width=lambda token: ceil(_WORD_SIZE * width_in_ems(shorten(token, _LONGEST_WORD_IN_EMS))) + 12,
    label_width=lambda label: ceil(_LABEL_SIZE * width_in_ems(label)),
    token_gap=4,
    special_gap=40,
    end_gap=11,
    label_margin=_CORNER,
)


def graph_svg(graph: DependencyGraph, *, width: int | None = None, with_style: bool = True) -> Picture:
    """A whole SVG of the graph, in one row or, with ``width``, in as many as it takes to be no wider than that.

    The tooltip of an arc shows the edge's probability. Without ``with_style``, the page must contain
    ``style("picture")`` once for all pictures.
    """
    rows = lay_out_arcs(graph, _PIXELS, width=None if width is None else width - 2 * _MARGIN)
    content: list[str] = []
    top = 0
    for row in rows:
        baseline = top + _TOP + row.levels * _LEVEL_HEIGHT
        content += _draw(graph, row, baseline)
        top = baseline + _ROW_HEIGHT
    title = f"Dependency graph: {' '.join(graph.question_tokens)}"
    moved = f'<g transform="translate({_MARGIN} 0)">{"".join(content)}</g>'
    across = max(_SMALLEST_WIDTH, *(row.width + 2 * _MARGIN for row in rows))
    return frame([moved], across, top, title=title, kind="qd-graph", with_style=with_style)


def _draw(graph: DependencyGraph, layout: ArcLayout, row: int) -> Iterator[str]:
    for token in layout.tokens:
        if token.text:
            yield from _token(token, row)
    for arc in layout.arcs:
        yield _arc(graph, layout, arc, row)
    # After all arcs, so that no line crosses a label.
    for arc in layout.arcs:
        middle = arc.label_left + arc.label_width / 2
        height = row - arc.level * _LEVEL_HEIGHT
        yield centred_text(arc.label, middle, height + 4, f"qd-label qd-{kind_of_tag(arc.edge.tag)}")
    if not layout.tokens:
        yield centred_text("There are no words.", _SMALLEST_WIDTH / 2 - _MARGIN, row + 22, "qd-word qd-free")


def _token(token: PlacedToken, row: int) -> Iterator[str]:
    if token.is_special:
        yield f'<rect class="qd-special" x="{token.left}" y="{row + 5}" width="{token.width}" height="25" rx="12"/>'
    shown = shorten(token.text, _LONGEST_WORD_IN_EMS)
    classes = "qd-word" if token.is_linked else "qd-word qd-free"
    text = centred_text(shown, token.left + token.width / 2, row + 23, classes)
    yield text if shown == token.full else f"<g><title>{escape(token.full)}</title>{text}</g>"


def _arc(graph: DependencyGraph, layout: ArcLayout, arc: PlacedArc, row: int) -> str:
    bottom = row + _ARCS_END_ABOVE_ROW
    top = row - arc.level * _LEVEL_HEIGHT
    corner = min(_CORNER, (arc.right - arc.left) / 2)
    left, right = number(arc.left + corner), number(arc.right - corner)
    # An edge that goes on in another row has no leg at the margin.
    rise = f"M{arc.left} {bottom}V{top + _CORNER}Q{arc.left} {top} {left} {top}"
    fall = f"H{right}Q{arc.right} {top} {arc.right} {top + _CORNER}V{bottom}"
    if layout.is_margin(arc.left):
        rise = f"M{arc.left} {top}H{left}"
    if layout.is_margin(arc.right):
        fall = f"H{arc.right}"
    head = arrow_head(arc.end, bottom, arc.end, top)
    if layout.is_margin(arc.end):
        head = arrow_head(arc.end, top, arc.start, top)
    edge = arc.edge
    score = "" if edge.score is None else f", probability {edge.score:.2f}"
    tip = f"{graph.tokens[edge.head]} → {graph.tokens[edge.dependent]}: {edge.tag}{score}"
    return (
        f'<g class="qd-arc qd-{kind_of_tag(edge.tag)}"><title>{escape(tip)}</title>'
        f'<path class="qd-line" d="{rise}{fall}"/>{head}</g>'
    )
