from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qdecomp.evaluation.metrics.edit_distance import EditProblem, TimeIsUpError, edit_distance


def _by_trying_everything(problem: EditProblem) -> float:
    """The least cost over all ways to say which node is which."""
    # Behind the second graph's nodes there is a "removed" for each node of the first.
    targets = [*range(problem.second_size), *[None] * problem.first_size]
    best = float("inf")
    for choice in set(permutations(targets, problem.first_size)):
        kept = [node for node in choice if node is not None]
        cost = sum(
            1.0 if node is None else problem.substitution_costs[place][node] for place, node in enumerate(choice)
        )
        cost += problem.second_size - len(kept)
        moved = {(choice[start], choice[end]) for start, end in problem.first_edges}
        common = len(moved & set(problem.second_edges))
        best = min(best, cost + len(problem.first_edges) + len(problem.second_edges) - 2 * common)
    return best


@st.composite
def _problems(draw: st.DrawFn) -> EditProblem:
    first, second = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    cost = st.integers(0, 10).map(lambda tenths: tenths / 10)
    costs = [[draw(cost) for _ in range(second)] for _ in range(first)]

    def edges(size: int) -> list[tuple[int, int]]:
        pairs = [(start, end) for start in range(size) for end in range(size)]
        return draw(st.lists(st.sampled_from(pairs), unique=True, max_size=6)) if pairs else []

    return EditProblem(costs, edges(first), edges(second), second)


@settings(max_examples=60, deadline=None)
@given(_problems())
def test_the_least_cost(problem):
    assert edit_distance(problem, seconds=60) == pytest.approx(_by_trying_everything(problem), abs=1e-6)


def test_a_self_loop_is_kept_only_as_a_self_loop():
    # The second graph has an edge to the other node in place of the loop: remove one, add one.
    problem = EditProblem([[0.0, 1.0], [1.0, 0.0]], [(1, 1)], [(1, 0)], 2)
    assert edit_distance(problem, seconds=60) == pytest.approx(2.0)


def test_no_time_is_no_distance():
    with pytest.raises(TimeIsUpError):
        edit_distance(EditProblem([[0.0]], [], [], 1), seconds=0)


def test_a_program_too_large_to_set_up_is_given_up():
    size = 400
    with pytest.raises(TimeIsUpError):
        edit_distance(EditProblem([[0.5] * size] * size, [], [], size), seconds=60)
