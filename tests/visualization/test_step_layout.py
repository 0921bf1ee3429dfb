from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qdecomp.visualization.step_layout import BoxSize, PlacedBox, StepLayout, lay_out_steps

_References = list[list[int]]


@st.composite
def references(draw: st.DrawFn) -> _References:
    count = draw(st.integers(1, 9))
    return [draw(st.lists(st.integers(1, max(step, 1)), max_size=3)) if step else [] for step in range(count)]


def layout_of(numbers: _References) -> StepLayout:
    sizes = [BoxSize(60 + 35 * (step % 3), 30 + 17 * (step % 4)) for step in range(len(numbers))]
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


@settings(deadline=None)
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


def test_a_chain_is_straight_and_siblings_are_ordered() -> None:
    assert len({box.left + box.width / 2 for box in layout_of([[], [1], [2]]).boxes}) == 1
    lefts = [box.left for box in layout_of([[], [1], [1], [1]]).boxes[1:]]
    assert lefts == sorted(lefts)


def test_pairs_are_not_crossed_where_it_can_be_avoided() -> None:
    layout = layout_of([[], [], [2], [1], [3, 4]])
    middles = {box.step: box.left + box.width / 2 for box in layout.boxes}
    assert (middles[1] < middles[2]) == (middles[4] < middles[3])
