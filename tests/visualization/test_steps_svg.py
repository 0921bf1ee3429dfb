"""Diagrams of steps: where boxes and lines go, and what is drawn."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdecomp.data_structures.conversion.qdmr_to_lf import to_logical_form
from qdecomp.data_structures.logical_form import LogicalForm
from qdecomp.visualization.steps_svg import PlacedBox, StepLayout, lay_out_steps, step_texts, steps_svg
from tests.strategies import logical_forms
from tests.visualization.examples import HOSTILE
from tests.visualization.test_graph_svg import of_class

_References = list[list[int]]


@st.composite
def references(draw: st.DrawFn) -> _References:
    count = draw(st.integers(1, 9))
    return [draw(st.lists(st.integers(1, max(step, 1)), max_size=3)) if step else [] for step in range(count)]


def layout_of(numbers: _References) -> StepLayout:
    sizes = [(60 + 35 * (step % 3), 30 + 17 * (step % 4)) for step in range(len(numbers))]
    return lay_out_steps(sizes, numbers)


def on_the_way(points: tuple[tuple[float, float], ...]) -> list[tuple[float, float]]:
    """Points on the lines and curves as they are drawn: a curve leaves and arrives straight up."""
    found = []
    for (x, y), (next_x, next_y) in pairwise(points):
        for part in range(21):
            t = part / 20
            across = 3 * t**2 - 2 * t**3
            up = 1.5 * (1 - t) ** 2 * t + 1.5 * (1 - t) * t**2 + t**3
            found.append((x + (next_x - x) * across, y + (next_y - y) * up))
    return found


def is_inside(point: tuple[float, float], box: PlacedBox) -> bool:
    x, y = point
    return box.left + 1 < x < box.left + box.width - 1 and box.top + 1 < y < box.top + box.height - 1


def check(layout: StepLayout) -> None:
    for box in layout.boxes:
        assert box.left >= -1e-6
        assert box.top >= -1e-6
        assert box.left + box.width <= layout.width + 1e-6
        assert box.top + box.height <= layout.height + 1e-6
    for one, other in combinations(layout.boxes, 2):
        beside = one.left + one.width < other.left or other.left + other.width < one.left
        assert beside or one.top + one.height < other.top or other.top + other.height < one.top
    for reference in layout.references:
        for point in on_the_way(reference.points):
            assert -1e-6 <= point[0] <= layout.width + 1e-6
            assert not any(is_inside(point, box) for box in layout.boxes)


@given(references())
def test_boxes_do_not_overlap_and_no_line_runs_through_a_box(numbers: _References) -> None:
    layout = layout_of(numbers)
    pairs = {(step, target) for step, targets in enumerate(numbers, start=1) for target in targets}
    assert {(each.step, each.target) for each in layout.references} == pairs
    assert len(layout.references) == len(pairs)
    check(layout)


def test_a_step_stands_below_what_it_refers_to_whatever_their_numbers() -> None:
    tops = {box.step: box.top for box in layout_of([[2], [3], []]).boxes}
    assert tops[3] < tops[2] < tops[1]


def test_a_step_that_refers_to_nothing_stands_right_above_its_user() -> None:
    layout = layout_of([[], [1], [2], [], [3, 4]])
    tops = {box.step: box.top + box.height / 2 for box in layout.boxes}
    assert tops[4] == pytest.approx(tops[3])


def test_pairs_are_not_crossed_where_it_can_be_avoided() -> None:
    layout = layout_of([[], [], [2], [1], [3, 4]])
    middles = {box.step: box.left + box.width / 2 for box in layout.boxes}
    assert (middles[1] < middles[2]) == (middles[4] < middles[3])


DECOMPOSITION = "return cubes ;return #1 that are red ;return number of #2 for each #1"


@given(logical_forms())
def test_any_form_is_well_formed_with_all_steps_and_references(form: LogicalForm) -> None:
    picture = ElementTree.fromstring(steps_svg(form))
    assert len(of_class(picture, "qd-box")) == len(form)
    assert len(of_class(picture, "qd-reference")) == sum(len(set(step.references)) for step in form.steps)
    headings = [heading.text or "" for heading in of_class(picture, "qd-operator")]
    assert [heading.split()[2] for heading in headings] == [step.operator.value for step in form.steps]


def test_boxes_show_number_operator_and_text() -> None:
    picture = ElementTree.fromstring(steps_svg(to_logical_form(DECOMPOSITION)))
    assert [each.text for each in of_class(picture, "qd-operator")] == ["1 · select", "2 · filter", "3 · group [count]"]
    steps = ["cubes", "#1 that are red", "number of #2 for each #1"]
    assert [each.text for each in of_class(picture, "qd-step")] == steps
    assert (picture[0].text or "").startswith("Decomposition in 3 steps: cubes; ")


def test_texts_are_those_that_were_written_if_there_are_as_many() -> None:
    form = to_logical_form("return the cubes , balls ;return how many #1 there are")
    assert step_texts(form, "return the cubes , balls ;return how many #1") == ("the cubes, balls", "how many #1")
    assert step_texts(form, "return cubes") == step_texts(form, None) == step_texts(form)
    assert len(step_texts(form)) == 2


def test_long_texts_are_wrapped_and_markup_is_escaped() -> None:
    form = to_logical_form(f"return {HOSTILE} {'word ' * 30}")
    picture = steps_svg(form)
    assert "<script" not in picture
    lines = [line.text or "" for line in of_class(ElementTree.fromstring(picture), "qd-step")]
    assert 3 <= len(lines) <= 8
    assert HOSTILE.split("alert")[0] in lines[0]
