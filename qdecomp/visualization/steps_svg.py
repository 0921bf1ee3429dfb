"""A decomposition as a picture: a box for each step, and arrows to the steps that use its answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import ceil

from qdecomp.data_structures.conversion.qdmr_to_lf import to_qdmr
from qdecomp.data_structures.errors import QDecompError
from qdecomp.data_structures.logical_form import LogicalForm, LogicalStep, format_step
from qdecomp.data_structures.qdmr import parse_qdmr
from qdecomp.visualization.step_layout import BoxSize, PlacedBox, PlacedReference, lay_out_steps
from qdecomp.visualization.svg import Picture, arrow_head, centred_text, escape, frame, number, width_in_ems, wrap

_TEXT_SIZE = 13
_HEADING_SIZE = 12
_LINE_HEIGHT = 17
_HEADING_HEIGHT = 24
_PADDING = 12
_MARGIN = 8
_LINE_IN_EMS = 17.0
_MOST_LINES = 8


@dataclass(frozen=True, slots=True)
class _Box:
    heading: str
    lines: tuple[str, ...]
    kind: str
    text: str

    @property
    def size(self) -> BoxSize:
        widest = max(_TEXT_SIZE * width_in_ems(line) for line in self.lines)
        width = max(widest, _HEADING_SIZE * width_in_ems(self.heading)) + 2 * _PADDING
        return BoxSize(ceil(width), _HEADING_HEIGHT + _LINE_HEIGHT * len(self.lines) + 6)


def steps_svg(
    form: LogicalForm, *, texts: Sequence[str] | None = None, title: str | None = None, with_style: bool = True
) -> Picture:
    """A whole SVG of the steps, the first at the top and each below those that it refers to.

    ``texts`` are the steps as they were written, by default as the logical form reads in words; the other options
    are those of :func:`~qdecomp.visualization.graph_svg.graph_svg`.
    """
    texts = step_texts(form) if texts is None else texts
    boxes = [_box(place, step, text) for place, (step, text) in enumerate(zip(form.steps, texts, strict=True), start=1)]
    layout = lay_out_steps([box.size for box in boxes], [step.references for step in form.steps])
    content = [*map(_reference, layout.references)]
    for box, placed in zip(boxes, layout.boxes, strict=True):
        content += _drawn(box, placed)
    if title is None:
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
            return tuple(step.text.replace(" ,", ",") for step in steps)
    return tuple(format_step(step) for step in form.steps)


def _box(place: int, step: LogicalStep, text: str) -> _Box:
    properties = f" [{', '.join(step.properties)}]" if step.properties else ""
    heading = f"{place} · {step.operator}{properties}"
    return _Box(heading, wrap(text, _LINE_IN_EMS, _MOST_LINES), step.operator.value, text)


def _drawn(box: _Box, placed: PlacedBox) -> Iterator[str]:
    middle = placed.left + placed.width / 2
    tip = "" if " ".join(box.lines) == box.text else f"<title>{escape(box.text)}</title>"
    yield (
        f'<g class="qd-{box.kind}">{tip}<rect class="qd-box" x="{number(placed.left)}" '
        f'y="{number(placed.top)}" width="{number(placed.width)}" height="{number(placed.height)}" rx="6"/>'
    )
    yield centred_text(box.heading, middle, placed.top + 17, "qd-operator")
    for line, text in enumerate(box.lines):
        yield centred_text(text, middle, placed.top + _HEADING_HEIGHT + 13 + line * _LINE_HEIGHT, "qd-step")
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
