"""Where the steps of a decomposition go: boxes in layers, each step below those that it refers to.

A reference over several layers gets a lane between the boxes of each layer that it passes, shared with the other
references to the same step, so that no line runs through a box.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from statistics import fmean

from qdecomp.data_structures.errors import GraphError
from qdecomp.data_structures.limits import MOST_EDGES_DRAWN, above
from qdecomp.data_structures.qdmr import order_by_references

_BOX_GAP = 22.0
_LAYER_GAP = 40.0
_LANE_WIDTH = 8.0
_END_GAP = 16.0
# So that the arrow head continues the direction of its line.
_STRAIGHT_END = 9.0
_SWEEPS = 4

# A step's number and a layer: the step's box in its own layer, the lane of references to it in the layers below.
_Node = tuple[int, int]


@dataclass(frozen=True, slots=True)
class BoxSize:
    """How large the box of a step is."""

    width: float
    height: float


@dataclass(frozen=True, slots=True)
class PlacedBox:
    """The box of a step; steps count from 1."""

    step: int
    left: float
    top: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class PlacedReference:
    """The path of an answer, from a step down to one that refers to it: from point to point, straight or in a curve."""

    step: int
    target: int
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class StepLayout:
    """Everything in its place, between 0 and ``width`` and ``height``."""

    boxes: tuple[PlacedBox, ...]
    references: tuple[PlacedReference, ...]
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class _Nodes:
    """The boxes and lanes in rows from the top, and which of them are joined by a line."""

    layer_of: Mapping[int, int]
    rows: tuple[tuple[_Node, ...], ...]
    above: Mapping[_Node, tuple[_Node, ...]]
    below: Mapping[_Node, tuple[_Node, ...]]
    widths: Mapping[_Node, float]


def lay_out_steps(sizes: Sequence[BoxSize], references: Sequence[Iterable[int]]) -> StepLayout:
    """Place the boxes of steps with these references to one another (steps count from 1; there is no cycle).

    More references than a picture can show are a :class:`~qdecomp.data_structures.errors.GraphError`.
    """
    targets = {step: tuple(dict.fromkeys(numbers)) for step, numbers in enumerate(references, start=1)}
    if reason := above(MOST_EDGES_DRAWN, sum(map(len, targets.values())), "references to draw"):
        raise GraphError("picture", reason)
    layer_of = _layers(targets)
    ways = [_way(step, target, layer_of) for step in targets for target in targets[step]]
    nodes = _uncrossed(_nodes(layer_of, ways, sizes))
    middles = _middles(nodes)
    bands: list[tuple[float, float]] = []
    for row in nodes.rows:
        top = bands[-1][1] + _LAYER_GAP if bands else 0.0
        bands.append((top, top + max(sizes[step - 1].height for step, layer in row if layer_of[step] == layer)))
    boxes = {}
    for step, layer in layer_of.items():
        size, (top, bottom) = sizes[step - 1], bands[layer]
        left = middles[step, layer] - size.width / 2
        boxes[step] = PlacedBox(step, left, (top + bottom - size.height) / 2, size.width, size.height)
    placed = tuple(PlacedReference(way[0][0], way[-1][0], _points(way, boxes, bands, nodes, middles)) for way in ways)
    width = max(middle + nodes.widths[node] / 2 for node, middle in middles.items())
    return StepLayout(tuple(boxes[step] for step in targets), placed, width, bands[-1][1])


def _layers(targets: Mapping[int, Sequence[int]]) -> dict[int, int]:
    """The layer of each step: below those that it refers to or, if it refers to none, right above its first user."""
    layer_of: dict[int, int] = {}
    for step in order_by_references(targets):
        layer_of[step] = 1 + max((layer_of[target] for target in targets[step]), default=-1)
    for step in targets:
        users = [layer_of[user] for user in targets if step in targets[user]]
        if not targets[step] and users:
            layer_of[step] = min(users) - 1
    return dict(sorted(layer_of.items()))


def _way(step: int, target: int, layer_of: Mapping[int, int]) -> tuple[_Node, ...]:
    between = range(layer_of[step] - 1, layer_of[target] - 1, -1)
    return ((step, layer_of[step]), *((target, layer) for layer in between))


def _nodes(layer_of: Mapping[int, int], ways: Iterable[Sequence[_Node]], sizes: Sequence[BoxSize]) -> _Nodes:
    above: dict[_Node, list[_Node]] = {node: [] for node in layer_of.items()}
    below: dict[_Node, list[_Node]] = {node: [] for node in layer_of.items()}
    for lower, upper in dict.fromkeys(pair for way in ways for pair in pairwise(way)):
        above.setdefault(lower, []).append(upper)
        below.setdefault(upper, []).append(lower)
    every = sorted(above.keys() | below.keys())
    return _Nodes(
        layer_of,
        tuple(tuple(node for node in every if node[1] == layer) for layer in range(1 + max(layer_of.values()))),
        {node: tuple(above.get(node, ())) for node in every},
        {node: tuple(below.get(node, ())) for node in every},
        {node: sizes[node[0] - 1].width if layer_of[node[0]] == node[1] else _LANE_WIDTH for node in every},
    )


def _uncrossed(nodes: _Nodes) -> _Nodes:
    """The rows in an order with few crossings, found by sorting by the middle of the neighbours."""
    rows = best = [list(row) for row in nodes.rows]
    for sweep in range(_SWEEPS):
        downwards = sweep % 2 == 0
        neighbours = nodes.above if downwards else nodes.below
        rows = [list(row) for row in rows]
        for layer in range(len(rows)) if downwards else reversed(range(len(rows))):
            other = rows[layer - 1 if downwards else min(layer + 1, len(rows) - 1)]
            place = {node: index for index, node in enumerate(other)}
            keys = {
                node: fmean(place[each] for each in neighbours[node]) if neighbours[node] else float(index)
                for index, node in enumerate(rows[layer])
            }
            rows[layer].sort(key=keys.__getitem__)
        best = min(best, rows, key=lambda each: _crossings(each, nodes.above))
    return replace(nodes, rows=tuple(map(tuple, best)))


def _crossings(rows: Sequence[Sequence[_Node]], above: Mapping[_Node, Sequence[_Node]]) -> int:
    place = {node: index for row in rows for index, node in enumerate(row)}
    lines = [[(place[upper], place[lower]) for lower in row for upper in above[lower]] for row in rows]
    return sum((one[0] - other[0]) * (one[1] - other[1]) < 0 for row in lines for one, other in combinations(row, 2))


def _middles(nodes: _Nodes) -> dict[_Node, float]:
    """Where the middle of each node is: near its neighbours, in the order of its row, from 0 on the left."""
    middles: dict[_Node, float] = dict.fromkeys((node for row in nodes.rows for node in row), 0.0)
    for row in nodes.rows:
        middles.update(_settled(row, middles, nodes.widths))
    for sweep in range(2 * _SWEEPS):
        downwards = sweep % 2 == 1
        neighbours = nodes.above if downwards else nodes.below
        for row in nodes.rows if downwards else reversed(nodes.rows):
            wanted = {
                node: fmean(middles[each] for each in neighbours[node]) if neighbours[node] else middles[node]
                for node in row
            }
            middles.update(_settled(row, wanted, nodes.widths))
    start = min(middle - nodes.widths[node] / 2 for node, middle in middles.items())
    return {node: middle - start for node, middle in middles.items()}


def _settled(row: Sequence[_Node], wanted: Mapping[_Node, float], widths: Mapping[_Node, float]) -> dict[_Node, float]:
    """The places closest to the wanted ones without overlaps (least squares: nodes that touch share a block)."""
    offsets = [0.0]
    for left, right in pairwise(row):
        offsets.append(offsets[-1] + (widths[left] + widths[right]) / 2 + _BOX_GAP)
    blocks: list[tuple[float, int]] = []
    for node, offset in zip(row, offsets, strict=True):
        place, count = wanted[node] - offset, 1
        while blocks and blocks[-1][0] >= place:
            other, more = blocks.pop()
            place, count = (place * count + other * more) / (count + more), count + more
        blocks.append((place, count))
    places = [place for place, count in blocks for _ in range(count)]
    return {node: place + offset for node, place, offset in zip(row, places, offsets, strict=True)}


def _points(
    way: Sequence[_Node],
    boxes: Mapping[int, PlacedBox],
    bands: Sequence[tuple[float, float]],
    nodes: _Nodes,
    middles: Mapping[_Node, float],
) -> tuple[tuple[float, float], ...]:
    """From the bottom of the target through the lanes to the top of the step; across only between the layers."""
    step, target = boxes[way[0][0]], boxes[way[-1][0]]
    start = middles[way[-1]] + _end_offset(way[-2], nodes.below[way[-1]], middles, target.width)
    end = middles[way[0]] + _end_offset(way[1], nodes.above[way[0]], middles, step.width)
    points = [(start, target.top + target.height), (start, bands[way[-1][1]][1])]
    for node in reversed(way[1:-1]):
        top, bottom = bands[node[1]]
        points += [(middles[node], top), (middles[node], bottom)]
    points += [(end, bands[way[0][1]][0] - _STRAIGHT_END), (end, step.top)]
    return tuple(points)


def _end_offset(neighbour: _Node, neighbours: Sequence[_Node], middles: Mapping[_Node, float], width: float) -> float:
    """Where on a box's side the line to a neighbour ends: side by side, in the neighbours' order."""
    ordered = sorted(neighbours, key=lambda node: (middles[node], node))
    gap = min(_END_GAP, width / (len(ordered) + 1))
    return gap * (ordered.index(neighbour) - (len(ordered) - 1) / 2)
