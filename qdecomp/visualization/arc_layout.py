"""Where the words, arcs and labels of a dependency graph go, in any unit: pixels of a picture, cells of a terminal.

Words are in a row; above them, every edge is a bracket, at a different level from the brackets that it overlaps. The
ends of a word's arcs are spread side by side, the longest arcs innermost, so that brackets from one word do not cross.
Words are moved apart until each label fits into its bracket, at a place where no leg of a higher bracket passes
through.
"""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, count, pairwise
from operator import add

from qdecomp.data_structures.dependency_graph import DependencyGraph, Edge
from qdecomp.data_structures.errors import GraphError
from qdecomp.data_structures.limits import MOST_EDGES_DRAWN, above
from qdecomp.data_structures.special_tokens import question_length


@dataclass(frozen=True, slots=True)
class Metrics:
    """The sizes of a drawing, in its unit."""

    token_width: Callable[[str], int]
    label_width: Callable[[str], int]
    token_gap: int
    """Between two words, at least."""
    special_gap: int
    """Between the question and the special tokens, at least."""
    end_gap: int
    """Between two arc ends at one word, and between two arcs at one level."""
    label_margin: int
    """Between a label and the corners of its arc, at least."""


@dataclass(frozen=True, slots=True)
class PlacedToken:
    """A token with its place; ``is_linked`` says whether an edge begins or ends here."""

    text: str
    left: int
    width: int
    is_special: bool
    is_linked: bool


@dataclass(frozen=True, slots=True)
class PlacedArc:
    """An edge as a bracket: up from ``start`` to its level (from 1), across, and down to ``end``."""

    edge: Edge
    label: str
    start: int
    end: int
    level: int
    label_left: int
    label_width: int

    @property
    def left(self) -> int:
        """The end on the left."""
        return min(self.start, self.end)

    @property
    def right(self) -> int:
        """The end on the right."""
        return max(self.start, self.end)


@dataclass(frozen=True, slots=True)
class ArcLayout:
    """Everything in its place, between 0 and ``width``."""

    tokens: tuple[PlacedToken, ...]
    arcs: tuple[PlacedArc, ...]
    width: int
    levels: int


@dataclass(frozen=True, slots=True)
class _Link:
    """An edge between two columns (the tokens that are shown), which are the same for an edge from a token to itself.

    The offsets say where its ends are, from the middle of each column.
    """

    edge: Edge
    label: str
    label_width: int
    first: int
    last: int
    first_offset: int = 0
    last_offset: int = 0

    @property
    def is_loop(self) -> bool:
        return self.first == self.last


def lay_out_arcs(
    graph: DependencyGraph, metrics: Metrics, label_of: Callable[[Edge], str] = lambda edge: edge.tag
) -> ArcLayout:
    """Place the question's tokens, the special tokens that have an edge, and all edges.

    A graph with more edges than a picture can show is a :class:`~qdecomp.data_structures.errors.GraphError`.
    """
    if reason := above(MOST_EDGES_DRAWN, len(graph.edges), "edges to draw"):
        raise GraphError("picture", reason)
    special = question_length(graph.tokens)
    linked = {position for edge in graph.edges for position in (edge.head, edge.dependent)}
    shown = [*range(special), *sorted(position for position in linked if position >= special)]
    columns = {position: column for column, position in enumerate(shown)}
    links = _spread_ends([_link(edge, label_of(edge), columns, metrics) for edge in graph.edges], metrics.end_gap)
    ends = Counter(column for link in links for column in (link.first, link.last))
    widths = [
        max(metrics.token_width(graph.tokens[position]), ends[column] * metrics.end_gap)
        for column, position in enumerate(shown)
    ]
    gaps = [metrics.special_gap if left < special <= right else metrics.token_gap for left, right in pairwise(shown)]
    # The label of a loop is wider than the loop and may reach beyond the outermost words.
    overhang = max((link.label_width for link in links if link.is_loop), default=0) // 2
    lefts, arcs = _place(_Row(widths, gaps, overhang), links, metrics)
    tokens = tuple(
        PlacedToken(graph.tokens[position], left, width, position >= special, position in linked)
        for position, left, width in zip(shown, lefts, widths, strict=True)
    )
    end = lefts[-1] + widths[-1] + overhang if shown else 0
    return ArcLayout(tokens, tuple(arcs), end, max((arc.level for arc in arcs), default=0))


def _link(edge: Edge, label: str, columns: Mapping[int, int], metrics: Metrics) -> _Link:
    first, last = sorted((columns[edge.head], columns[edge.dependent]))
    return _Link(edge, label, metrics.label_width(label), first, last)


def _spread_ends(links: Sequence[_Link], end_gap: int) -> list[_Link]:
    """Sort the links, short ones first, and place their ends side by side.

    At a word, the arcs to the left come first, the longest last; then loops; then the arcs to the right, the longest
    first. Arcs from one word are then nested and do not cross.
    """
    ordered = sorted(links, key=lambda link: (link.last - link.first, link.edge))
    ends: dict[int, list[tuple[int, int, int]]] = {}
    for rank, link in enumerate(ordered):
        ends.setdefault(link.first, []).append((1 if link.is_loop else 3, -rank, rank))
        ends.setdefault(link.last, []).append((2 if link.is_loop else 0, rank, rank))
    offsets: dict[tuple[int, bool], int] = {}
    for at_word in ends.values():
        for place, (kind, _, rank) in enumerate(sorted(at_word)):
            is_first = kind in (1, 3)
            offsets[rank, is_first] = end_gap * (2 * place - len(at_word) + 1) // 2
    return [
        replace(link, first_offset=offsets[rank, True], last_offset=offsets[rank, False])
        for rank, link in enumerate(ordered)
    ]


@dataclass(slots=True)
class _Row:
    """The columns while they are moved apart: their widths, and the gaps after all but the last."""

    widths: list[int]
    gaps: list[int]
    start: int

    def lefts(self) -> list[int]:
        return list(accumulate(map(add, self.widths, self.gaps), initial=self.start))[: len(self.widths)]

    def middles(self) -> list[int]:
        return [left + width // 2 for left, width in zip(self.lefts(), self.widths, strict=True)]

    def widen(self, first: int, last: int, missing: int) -> None:
        """Spread the missing width over the gaps between two columns."""
        below = last - first
        for place in range(below if missing > 0 else 0):
            self.gaps[first + place] += (missing + place) // below


def _place(row: _Row, links: Sequence[_Link], metrics: Metrics) -> tuple[list[int], list[PlacedArc]]:
    """Move the columns apart until each label fits on its arc and lies clear of the legs of higher arcs."""
    for link in links:
        if not link.is_loop:
            middles = row.middles()
            room = middles[link.last] + link.last_offset - middles[link.first] - link.first_offset
            row.widen(link.first, link.last, link.label_width + 2 * metrics.label_margin - room)
    # Every round makes room for a label that had none, and takes none away.
    for _ in links:
        arcs, lefts = _arcs(links, row.middles(), metrics.end_gap), row.lefts()
        crowded = (arc for arc in arcs if arc.edge.head != arc.edge.dependent and not _free(arc, arcs, metrics))
        arc = next(crowded, None)
        if arc is None:
            break
        stretches = [
            (right - left, bisect(lefts, left) - 1, bisect(lefts, right) - 1)
            for left, right in pairwise(_walls(arc, arcs))
        ]
        length, first, last = max(stretch for stretch in stretches if stretch[1] < stretch[2])
        row.widen(first, last, arc.label_width + 2 * metrics.label_margin - length)
    arcs = _arcs(links, row.middles(), metrics.end_gap)
    return row.lefts(), [replace(arc, label_left=_label_left(arc, arcs, metrics)) for arc in arcs]


def _arcs(links: Sequence[_Link], middles: Sequence[int], end_gap: int) -> list[PlacedArc]:
    """The arcs at their levels, with labels in the middle."""
    arcs: list[PlacedArc] = []
    for link in links:
        left = middles[link.first] + link.first_offset
        right = middles[link.last] + link.last_offset
        start, end = (left, right) if link.edge.head <= link.edge.dependent else (right, left)
        label_left = (left + right - link.label_width) // 2
        arc = PlacedArc(link.edge, link.label, start, end, 0, label_left, link.label_width)
        arcs.append(replace(arc, level=_lowest_level(arc, arcs, end_gap)))
    return arcs


def _lowest_level(arc: PlacedArc, others: Sequence[PlacedArc], gap: int) -> int:
    """The lowest level, above the arcs within this one, at which no other arc is in the way."""
    enclosed = [other.level for other in others if arc.left < other.left and other.right < arc.right]
    left, right = _extent(arc)
    taken = set()
    for other in others:
        other_left, other_right = _extent(other)
        if other_left < right + gap and left < other_right + gap:
            taken.add(other.level)
    return next(level for level in count(max(enclosed, default=0) + 1) if level not in taken)


def _extent(arc: PlacedArc) -> tuple[int, int]:
    return min(arc.left, arc.label_left), max(arc.right, arc.label_left + arc.label_width)


def _walls(arc: PlacedArc, arcs: Sequence[PlacedArc]) -> list[int]:
    """The arc's ends and the legs of higher arcs between them: a label may be between two of these."""
    legs = {end for other in arcs if other.level > arc.level for end in (other.left, other.right)}
    return [arc.left, *sorted(leg for leg in legs if arc.left < leg < arc.right), arc.right]


def _free(arc: PlacedArc, arcs: Sequence[PlacedArc], metrics: Metrics) -> list[int]:
    """Where the label may begin: between each two walls, as near to the middle of the arc as possible."""
    margin = metrics.label_margin
    return [
        min(max(arc.label_left, left + margin), right - margin - arc.label_width)
        for left, right in pairwise(_walls(arc, arcs))
        if right - left >= arc.label_width + 2 * margin
    ]


def _label_left(arc: PlacedArc, arcs: Sequence[PlacedArc], metrics: Metrics) -> int:
    return min(_free(arc, arcs, metrics), key=lambda place: abs(place - arc.label_left), default=arc.label_left)
