"""A decomposition as a picture: a box for each step, and arrows to the steps that use its answer.

The boxes are in layers, each step below those that it refers to. A reference over several layers gets a lane between
the boxes of each layer that it passes, shared with the other references to the same step, so that no line runs through
a box.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, pairwise
from math import ceil
from statistics import fmean

from qdecomp.data_structures.conversion.qdmr_to_lf import to_qdmr
from qdecomp.data_structures.errors import GraphError, QDecompError
from qdecomp.data_structures.limits import MOST_EDGES_DRAWN, above
from qdecomp.data_structures.logical_form import LogicalForm, format_step
from qdecomp.data_structures.qdmr import levels_of, parse_qdmr
from qdecomp.data_structures.tokenization import with_whole_numbers
from qdecomp.visualization.svg import Picture, arrow_head, centred_text, escape, frame, number, width_in_ems, wrap

_TEXT_SIZE = 13
_HEADING_SIZE = 12
_LINE_HEIGHT = 17
_HEADING_HEIGHT = 24
_PADDING = 12
_MARGIN = 8
_LINE_IN_EMS = 17.0
_MOST_LINES = 8

_BOX_GAP = 22.0
_LAYER_GAP = 40.0
_LANE_WIDTH = 8.0
_END_GAP = 16.0
# So that the arrow head continues the direction of its line.
_STRAIGHT_END = 9.0
_SWEEPS = 4

# A step's number and a layer: the step's box in its own layer, the lane of references to it in the layers below.
_Node = tuple[int, int]


def steps_svg(form: LogicalForm, decomposition: str | None = None, *, with_style: bool = True) -> Picture:
    """A whole SVG of the steps, the first at the top and each below those that it refers to.

    They read as in the ``decomposition``, the text that the form is of; ``with_style`` is that of
    :func:`~qdecomp.visualization.graph_svg.graph_svg`.
    """
    texts = step_texts(form, decomposition)
    headings = [
        f"{place} · {step.operator}" + (f" [{', '.join(step.properties)}]" if step.properties else "")
        for place, step in enumerate(form.steps, start=1)
    ]
    lines = [wrap(text, _LINE_IN_EMS, _MOST_LINES) for text in texts]
    layout = lay_out_steps(list(map(_size, headings, lines)), [step.references for step in form.steps])
    content = [*map(_reference, layout.references)]
    for step, text, heading, wrapped, placed in zip(form.steps, texts, headings, lines, layout.boxes, strict=True):
        content += _box(step.operator.value, text, heading, wrapped, placed)
    title = f"Decomposition in {len(form)} {'step' if len(form) == 1 else 'steps'}: {'; '.join(texts)}"
    moved = f'<g transform="translate({_MARGIN} {_MARGIN})">{"".join(content)}</g>'
    size = (layout.width + 2 * _MARGIN, layout.height + 2 * _MARGIN)
    return frame([moved], *size, title=title, kind="qd-steps", with_style=with_style)


def step_texts(form: LogicalForm, decomposition: str | None = None) -> tuple[str, ...]:
    """The steps in words: those of the decomposition if it has as many, else as the logical form reads."""
    readings = [] if decomposition is None else [partial(parse_qdmr, decomposition)]
    for read in (*readings, partial(to_qdmr, form)):
        try:
            steps = read().steps
        except QDecompError:
            continue
        if len(steps) == len(form):
            # In steps, commas are separate tokens; in print they follow the previous word directly.
            return tuple(with_whole_numbers(step.text, decomposition or "").replace(" ,", ",") for step in steps)
    return tuple(format_step(step) for step in form.steps)


def _size(heading: str, lines: Sequence[str]) -> tuple[float, float]:
    """The width and the height of a box."""
    widest = max(_HEADING_SIZE * width_in_ems(heading), *(_TEXT_SIZE * width_in_ems(line) for line in lines))
    return ceil(widest + 2 * _PADDING), _HEADING_HEIGHT + _LINE_HEIGHT * len(lines) + 6


def _box(kind: str, text: str, heading: str, lines: Sequence[str], placed: PlacedBox) -> Iterator[str]:
    middle = placed.left + placed.width / 2
    tip = "" if " ".join(lines) == text else f"<title>{escape(text)}</title>"
    yield (
        f'<g class="qd-{kind}">{tip}<rect class="qd-box" x="{number(placed.left)}" '
        f'y="{number(placed.top)}" width="{number(placed.width)}" height="{number(placed.height)}" rx="6"/>'
    )
    yield centred_text(heading, middle, placed.top + 17, "qd-operator")
    for place, line in enumerate(lines):
        yield centred_text(line, middle, placed.top + _HEADING_HEIGHT + 13 + place * _LINE_HEIGHT, "qd-step")
    yield "</g>"


def _reference(reference: PlacedReference) -> str:
    path = "M{} {}".format(*map(number, reference.points[0]))
    for (x, y), (next_x, next_y) in pairwise(reference.points):
        if x == next_x:
            path += f"V{number(next_y)}"
        else:
            middle = number((y + next_y) / 2)
            path += f"C{number(x)} {middle} {number(next_x)} {middle} {number(next_x)} {number(next_y)}"
    (_, before), (x, y) = reference.points[-2:]
    return (
        f'<g class="qd-reference"><title>step {reference.step} uses the answer of step {reference.target}</title>'
        f'<path class="qd-line" d="{path}"/>{arrow_head(x, y, x, before)}</g>'
    )


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

    rows: tuple[tuple[_Node, ...], ...]
    above: Mapping[_Node, tuple[_Node, ...]]
    below: Mapping[_Node, tuple[_Node, ...]]
    widths: Mapping[_Node, float]


def lay_out_steps(sizes: Sequence[tuple[float, float]], references: Sequence[Iterable[int]]) -> StepLayout:
    """Place boxes of these widths and heights: those of steps that refer to one another, without cycles.

    More references than a picture can show are a :class:`~qdecomp.data_structures.errors.GraphError`.
    """
    targets = {step: tuple(dict.fromkeys(numbers)) for step, numbers in enumerate(references, start=1)}
    if reason := above(MOST_EDGES_DRAWN, sum(map(len, targets.values())), "references to draw"):
        raise GraphError("picture", reason)
    layer_of = _layers(targets)
    ways = [
        ((step, layer_of[step]), *((target, layer) for layer in range(layer_of[step] - 1, layer_of[target] - 1, -1)))
        for step in targets
        for target in targets[step]
    ]
    nodes = _uncrossed(_nodes(layer_of, ways, sizes))
    middles = _middles(nodes)
    bands: list[tuple[float, float]] = []
    for row in nodes.rows:
        top = bands[-1][1] + _LAYER_GAP if bands else 0.0
        bands.append((top, top + max(sizes[step - 1][1] for step, layer in row if layer_of[step] == layer)))
    boxes = {}
    for step, layer in layer_of.items():
        (width, height), (top, bottom) = sizes[step - 1], bands[layer]
        boxes[step] = PlacedBox(step, middles[step, layer] - width / 2, (top + bottom - height) / 2, width, height)
    placed = tuple(PlacedReference(way[0][0], way[-1][0], _points(way, boxes, bands, nodes, middles)) for way in ways)
    width = max(middle + nodes.widths[node] / 2 for node, middle in middles.items())
    return StepLayout(tuple(boxes[step] for step in targets), placed, width, bands[-1][1])


def _layers(targets: Mapping[int, Sequence[int]]) -> dict[int, int]:
    """The layer of each step: below those that it refers to or, if it refers to none, right above its first user."""
    layer_of = levels_of(targets)
    for step in targets:
        users = [layer_of[user] for user in targets if step in targets[user]]
        if not targets[step] and users:
            layer_of[step] = min(users) - 1
    return dict(sorted(layer_of.items()))


def _nodes(
    layer_of: Mapping[int, int], ways: Iterable[Sequence[_Node]], sizes: Sequence[tuple[float, float]]
) -> _Nodes:
    above: dict[_Node, list[_Node]] = {node: [] for node in layer_of.items()}
    below: dict[_Node, list[_Node]] = {node: [] for node in layer_of.items()}
    for lower, upper in dict.fromkeys(pair for way in ways for pair in pairwise(way)):
        above.setdefault(lower, []).append(upper)
        below.setdefault(upper, []).append(lower)
    every = sorted(above.keys() | below.keys())
    return _Nodes(
        tuple(tuple(node for node in every if node[1] == layer) for layer in range(1 + max(layer_of.values()))),
        {node: tuple(above.get(node, ())) for node in every},
        {node: tuple(below.get(node, ())) for node in every},
        {node: sizes[node[0] - 1][0] if layer_of[node[0]] == node[1] else _LANE_WIDTH for node in every},
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
