"""Where the words, arcs and labels of a dependency graph go, in any unit: pixels of a picture, cells of a terminal.

Words are in a row; above them, every edge is a bracket, at a different level from the brackets that it overlaps. The
ends of a word's arcs are spread side by side, the longest arcs innermost, so that brackets from one word do not cross.
Words are moved apart until each label fits into its bracket, at a place where no leg of a higher bracket passes
through. A graph that is too wide for one row is cut into several, which are laid out one by one.
"""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, count, groupby, pairwise
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
    """A token, words that are folded into an ellipsis or, without text, the margin of a row; with its place.

    ``full`` is the text with all words, and ``is_linked`` says whether an edge begins or ends here.
    """

    text: str
    full: str
    positions: tuple[int, ...]
    is_special: bool
    is_linked: bool
    left: int = 0
    width: int = 0


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

    def is_margin(self, place: int) -> bool:
        """Whether an arc that ends here goes on in another row."""
        outermost = (self.tokens[0], self.tokens[-1])
        return any(not token.text and token.left <= place <= token.left + token.width for token in outermost)


@dataclass(frozen=True, slots=True)
class _Link:
    """An edge between two columns; ``first`` and ``last`` are the same if a token has an edge to itself.

    The offsets say how far its ends are from the middle of each column.
    """

    edge: Edge
    label: str
    label_width: int
    first: int
    last: int
    first_offset: int = 0
    last_offset: int = 0


def lay_out_arcs(
    graph: DependencyGraph,
    metrics: Metrics,
    label_of: Callable[[Edge], str] = lambda edge: edge.tag,
    width: int | None = None,
) -> list[ArcLayout]:
    """Place the question's tokens, the special tokens that have an edge, and all edges; in one row if ``width`` allows.

    Otherwise, neighbouring words without edges become an ellipsis, and each row has as many words as fit, at least one.
    An edge from one row to another is drawn in both, each time with its label: from its head to the margin on the side
    of the other row, and from the margin to its dependent. A graph with more edges than a picture can show is a
    :class:`~qdecomp.data_structures.errors.GraphError`.
    """
    columns = _shown(graph)
    whole = _lay_out(columns, _links(graph, columns, metrics, label_of), metrics)
    if width is None or whole.width <= width:
        return [whole]
    columns = _folded(columns)
    links = _links(graph, columns, metrics, label_of)
    margin = PlacedToken("", "", (), False, False)
    rows: list[ArcLayout] = []
    start = 0
    while start < len(columns):
        end = len(columns)
        while True:
            line = [margin, *columns[start:end], margin]
            inside = [
                replace(link, first=max(link.first - start + 1, 0), last=min(link.last - start + 1, len(line) - 1))
                for link in links
                if start <= link.first < end or start <= link.last < end
            ]
            row = _lay_out(line, inside, metrics)
            if row.width <= width or end == start + 1:
                break
            fitting = sum(token.left + token.width <= width for token in row.tokens[1:-1])
            end = start + max(1, min(fitting, end - start - 1))
        rows.append(row)
        start = end
    return rows


def _shown(graph: DependencyGraph) -> list[PlacedToken]:
    """The tokens that are drawn, without places."""
    special = question_length(graph.tokens)
    linked = {position for edge in graph.edges for position in (edge.head, edge.dependent)}
    shown = [*range(special), *sorted(position for position in linked if position >= special)]
    return [
        PlacedToken(graph.tokens[place], graph.tokens[place], (place,), place >= special, place in linked)
        for place in shown
    ]


def _folded(tokens: Iterable[PlacedToken]) -> list[PlacedToken]:
    """Several neighbours without edges as one."""
    folded: list[PlacedToken] = []
    for is_linked, group in groupby(tokens, key=lambda token: token.is_linked):
        words = list(group)
        if is_linked or len(words) == 1:
            folded += words
        else:
            positions = tuple(position for word in words for position in word.positions)
            folded.append(PlacedToken("…", " ".join(word.text for word in words), positions, False, False))
    return folded


def _links(
    graph: DependencyGraph, columns: Sequence[PlacedToken], metrics: Metrics, label_of: Callable[[Edge], str]
) -> list[_Link]:
    if reason := above(MOST_EDGES_DRAWN, len(graph.edges), "edges to draw"):
        raise GraphError("picture", reason)
    number_of = {position: number for number, column in enumerate(columns) for position in column.positions}
    links = []
    for edge in graph.edges:
        first, last = sorted((number_of[edge.head], number_of[edge.dependent]))
        label = label_of(edge)
        links.append(_Link(edge, label, metrics.label_width(label), first, last))
    return links


def _lay_out(columns: Sequence[PlacedToken], given: Sequence[_Link], metrics: Metrics) -> ArcLayout:
    links = _spread_ends(given, metrics.end_gap)
    ends = Counter(number for link in links for number in (link.first, link.last))
    widths = [
        max(metrics.token_width(column.text) if column.text else 0, ends[number] * metrics.end_gap)
        for number, column in enumerate(columns)
    ]
    gaps = [
        metrics.special_gap if right.is_special and not left.is_special else metrics.token_gap
        for left, right in pairwise(columns)
    ]
    # The label of a loop is wider than the loop and may reach beyond the outermost words.
    overhang = max((link.label_width for link in links if link.first == link.last), default=0) // 2
    lefts, arcs = _place(_Row(widths, gaps, overhang), links, metrics)
    tokens = tuple(
        replace(column, left=left, width=width) for column, left, width in zip(columns, lefts, widths, strict=True)
    )
    end = lefts[-1] + widths[-1] + overhang if columns else 0
    return ArcLayout(tokens, tuple(arcs), end, max((arc.level for arc in arcs), default=0))


def _spread_ends(links: Sequence[_Link], end_gap: int) -> list[_Link]:
    """Sort the links, short ones first, and place their ends side by side.

    At a word, the arcs to the left come first, the longest last; then loops; then the arcs to the right, the longest
    first. Arcs from one word are then nested and do not cross.
    """
    ordered = sorted(links, key=lambda link: (link.last - link.first, link.edge))
    ends: dict[int, list[tuple[int, int, int]]] = {}
    for rank, link in enumerate(ordered):
        ends.setdefault(link.first, []).append((1 if link.first == link.last else 3, -rank, rank))
        ends.setdefault(link.last, []).append((2 if link.first == link.last else 0, rank, rank))
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
        if link.first != link.last:
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
