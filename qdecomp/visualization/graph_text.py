"""A dependency graph in a terminal: arcs of box characters above the words, in as many rows as it takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from qdecomp.data_structures.dependency_graph import DependencyGraph, Edge
from qdecomp.data_structures.errors import GraphError
from qdecomp.terminal import STYLES
from qdecomp.visualization.arc_layout import ArcLayout, Metrics, PlacedArc, lay_out_arcs
from qdecomp.visualization.assets import kind_of_tag

if TYPE_CHECKING:
    from rich.text import Text


_FREE = "free"
_LINKED = "linked"
_SPECIAL = "special"
_STYLES = {**STYLES, _FREE: "dim", _LINKED: "bold", _SPECIAL: "bold italic"}

# A piece of a line and the key of its style.
_Piece = tuple[str, str]
# What is drawn later wins, but lines that meet cross.
_CROSSING = frozenset({("─", "│"), ("│", "─"), ("┼", "─"), ("┼", "│")})
# They are not visible, but emoji and some scripts need them.
_JOINERS = frozenset("\u200c\u200d")


def graph_text(graph: DependencyGraph, *, width: int = 100) -> str:
    """The graph in lines of at most ``width`` cells if the words allow it, without colours.

    >>> from qdecomp.data_structures.dependency_graph import Edge
    >>> print(graph_text(DependencyGraph(("red", "cubes"), (Edge(0, 1, "filter-sub", 0.9),))))
     ╭─filter-sub 0.90─╮
     │                 ▼
    red              cubes
    """
    return "\n".join("".join(text for text, _ in line).rstrip() for line in _lines(graph, width))


def graph_rich(graph: DependencyGraph, *, width: int = 100) -> Text:
    """Like :func:`graph_text`, with the operators' colours, for ``rich.print``."""
    from rich.text import Text

    lines = [Text.assemble(*((text, _STYLES[style]) for text, style in line)) for line in _lines(graph, width)]
    return Text("\n", no_wrap=True).join(lines)


def _lines(graph: DependencyGraph, width: int) -> list[list[_Piece]]:
    from rich.cells import cell_len

    graph = DependencyGraph(tuple(map(_harmless, graph.tokens)), graph.edges)

    def label_width(label: str) -> int:
        # From a label's first cell to its last one, as from one leg of an arc to the other.
        return max(cell_len(label), 1) - 1

    cells = Metrics(cell_len, label_width, token_gap=1, special_gap=4, end_gap=1, label_margin=2)
    try:
        rows = lay_out_arcs(graph, cells, _label, width)
    except GraphError as error:
        return [[(str(error), _FREE)]]
    return [line for row in rows for line in _drawing(row)]


def _harmless(text: str) -> str:
    """The text with U+FFFD for each character that would control the terminal or reverse the line."""
    return "".join(character if character.isprintable() or character in _JOINERS else "\ufffd" for character in text)


def _label(edge: Edge) -> str:
    return _harmless(edge.tag if edge.score is None else f"{edge.tag} {edge.score:.2f}")


def _drawing(layout: ArcLayout) -> list[list[_Piece]]:
    from rich.cells import cell_len

    canvas = [[(" ", _FREE)] * layout.width for _ in range(layout.levels + 1)] if layout.arcs else []
    # All arcs before the labels, which are drawn over them.
    for arc in layout.arcs:
        _draw_arc(canvas, arc, layout)
    for arc in layout.arcs:
        row = canvas[layout.levels - arc.level]
        # A wide letter takes two cells; the second one is left empty.
        for cell in range(arc.label_left, arc.label_left + arc.label_width + 1):
            row[cell] = ("", _FREE)
        row[arc.label_left] = (arc.label, kind_of_tag(arc.edge.tag))
    words: list[_Piece] = []
    at = 0
    for token in layout.tokens:
        length = cell_len(token.text)
        start = token.left + (token.width - length) // 2
        style = _SPECIAL if token.is_special else _LINKED if token.is_linked else _FREE
        words += [(" " * (start - at), _FREE), (token.text, style)]
        at = start + length
    return [*canvas, words]


def _draw_arc(canvas: Sequence[list[_Piece]], arc: PlacedArc, layout: ArcLayout) -> None:
    style = kind_of_tag(arc.edge.tag)

    def put(row: int, column: int, character: str) -> None:
        there = canvas[row][column][0]
        canvas[row][column] = ("┼" if (there, character) in _CROSSING else character, style)

    bottom = len(canvas) - 1
    top = bottom - arc.level
    for column in range(arc.left + 1, arc.right):
        put(top, column, "─")
    for end, corner, outwards in ((arc.left, "╭", "◂"), (arc.right, "╮", "▸")):
        if layout.is_margin(end):
            put(top, end, outwards if end == arc.end else "─")
            continue
        put(top, end, corner)
        for row in range(top + 1, bottom + 1):
            put(row, end, "│")
        if end == arc.end:
            put(bottom, end, "▼")
