"""A dependency graph in a terminal: arcs of box characters above the words, or a table if the line is too short."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from qdecomp.data_structures.dependency_graph import DependencyGraph
from qdecomp.data_structures.special_tokens import question_length
from qdecomp.terminal import STYLES
from qdecomp.visualization.arc_layout import ArcLayout, Metrics, PlacedArc, lay_out_arcs
from qdecomp.visualization.colours import kind_of_tag
from qdecomp.visualization.svg import replace_unprintable

if TYPE_CHECKING:
    from rich.text import Text


_FREE = "free"
_LINKED = "linked"
_SPECIAL = "special"
_STYLES = {**STYLES, _FREE: "dim", _LINKED: "bold"}
_STYLES[_SPECIAL] = "bold italic"

# A piece of a line and the key of its style.
_Piece = tuple[str, str]
# What is drawn later wins, but lines that meet cross.
_CROSSING = frozenset({("─", "│"), ("│", "─"), ("┼", "─"), ("┼", "│")})


def graph_text(graph: DependencyGraph, *, width: int = 100) -> str:
    """The graph in lines of at most ``width`` cells if the words allow it, without colours.

    >>> from qdecomp.data_structures.dependency_graph import Edge
    >>> print(graph_text(DependencyGraph(("red", "cubes"), (Edge(0, 1, "filter-sub"),))))
     ╭─filter-sub─╮
     │            ▼
    red         cubes
    >>> print(graph_text(DependencyGraph(("red", "cubes"), (Edge(0, 1, "filter-sub", 0.9),)), width=10))
    red cubes
    head   dependent  tag         probability
    1 red  2 cubes    filter-sub         0.90
    """
    return "\n".join("".join(text for text, _ in line).rstrip() for line in _lines(graph, width))


def graph_rich(graph: DependencyGraph, *, width: int = 100) -> Text:
    """Like :func:`graph_text`, with the operators' colours, for ``rich.print``."""
    from rich.text import Text

    lines = [Text.assemble(*((text, _STYLES[style]) for text, style in line)) for line in _lines(graph, width)]
    return Text("\n", no_wrap=True).join(lines)


def _lines(graph: DependencyGraph, width: int) -> list[list[_Piece]]:
    from rich.cells import cell_len

    graph = DependencyGraph(tuple(map(replace_unprintable, graph.tokens)), graph.edges)
    cells = Metrics(cell_len, _label_width, token_gap=1, special_gap=4, end_gap=1, label_margin=2)
    # Each arc takes two cells at its ends, so more of them cannot fit.
    if 2 * len(graph.edges) > width:
        return _table(graph)
    layout = lay_out_arcs(graph, cells, lambda edge: replace_unprintable(edge.tag))
    return _drawing(layout) if layout.width <= width else _table(graph)


def _label_width(label: str) -> int:
    """From a label's first cell to its last one, as from one leg of an arc to the other."""
    from rich.cells import cell_len

    return max(cell_len(label), 1) - 1


def _drawing(layout: ArcLayout) -> list[list[_Piece]]:
    from rich.cells import cell_len

    canvas = [[(" ", _FREE)] * layout.width for _ in range(layout.levels + 1)] if layout.arcs else []
    # All arcs before the labels, which are drawn over them.
    for arc in layout.arcs:
        _draw_arc(canvas, arc)
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


def _draw_arc(canvas: Sequence[list[_Piece]], arc: PlacedArc) -> None:
    style = kind_of_tag(arc.edge.tag)

    def put(row: int, column: int, character: str) -> None:
        there = canvas[row][column][0]
        canvas[row][column] = ("┼" if (there, character) in _CROSSING else character, style)

    bottom = len(canvas) - 1
    top = bottom - arc.level
    for column in range(arc.left + 1, arc.right):
        put(top, column, "─")
    put(top, arc.left, "╭")
    put(top, arc.right, "╮")
    for row in range(top + 1, bottom + 1):
        put(row, arc.start, "│")
        put(row, arc.end, "│")
    put(bottom, arc.end, "▼")


def _table(graph: DependencyGraph) -> list[list[_Piece]]:
    from rich.cells import cell_len

    head = ("head", "dependent", "tag", "probability")
    rows = [
        (
            f"{edge.head + 1} {graph.tokens[edge.head]}",
            f"{edge.dependent + 1} {graph.tokens[edge.dependent]}",
            replace_unprintable(edge.tag),
            "" if edge.score is None else f"{edge.score:.2f}".rjust(len(head[-1])),
        )
        for edge in graph.edges
    ]
    widths = [max(map(cell_len, column)) for column in zip(head, *rows, strict=True)]

    def line(cells: Sequence[str], styles: Iterable[str]) -> list[_Piece]:
        padded = [cell + " " * (width - cell_len(cell) + 2) for cell, width in zip(cells, widths, strict=True)]
        return list(zip(padded, styles, strict=True))

    question: list[_Piece] = [(" ".join(graph.tokens[: question_length(graph.tokens)]), _LINKED)]
    lines = [line(row, (_LINKED, _LINKED, kind_of_tag(row[2]), _FREE)) for row in rows]
    return [question, line(head, (_FREE,) * 4), *lines] if rows else [question]
