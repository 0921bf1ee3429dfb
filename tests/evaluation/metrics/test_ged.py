from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qdecomp.evaluation.metrics import get_metric, prepare
from qdecomp.evaluation.metrics.ged import Ged, edit_distance, match_ratio

_PUBLISHED = {
    "ATIS_dev_413": 0.440000,
    "CLEVR_dev_588": 0.611111,
    # The official value is 0.460317, since networkx lets the self-loop pass for the gold edge.
    "CLEVR_dev_2481": 0.816667,
    "COMQA_dev_cluster-4196-1": 0.490909,
    "NLVR2_dev_dev-821-0-1": 0.442177,
}


@pytest.fixture(scope="module")
def ged(spacy_pipeline) -> Ged:
    return get_metric("ged").load()


@pytest.mark.parametrize(
    ("prediction", "gold", "value"),
    [
        ("return red balls ;return number of #1", "return red balls;return number of  #1", 0.0),
        # The first steps share a space and "ball" of 2 and 3 words: 1 - 4/5. Then a node and an edge are added.
        # 2.2 of 3 nodes and edges at most.
        ("return balls", "return red balls ;return number of #1", 2.2 / 3),
        # Lemmas count and not words.
        ("return ball", "return balls", 0.0),
    ],
)
def test_by_hand(ged, prediction, gold, value):
    assert ged("", prediction, gold).value == pytest.approx(value, abs=1e-9)


def test_published_values(ged, official_rows):
    rows = [row for row in official_rows if row["question_id"] in _PUBLISHED]
    assert rows
    for row in rows:
        value = ged(row["question"], row["prediction"], row["gold"]).value
        assert value == pytest.approx(_PUBLISHED[row["question_id"]], abs=1e-6), row["question_id"]


@pytest.mark.parametrize(
    "prediction",
    ["return balls ;return color of #2", "return #2 ;return #1", "return color of #7", "return balls ;" * 30],
)
def test_a_bad_prediction_has_a_distance(ged, prediction):
    result = ged("", prediction, "return balls ;return color of #1")
    assert result.value > 0
    assert result.error is None


def test_the_time_limit_gives_no_value_and_says_so(spacy_pipeline):
    steps = " ;".join(f"return step {number} of #{number}" for number in range(1, 12))
    other = " ;".join(f"return part {number} of #{12 - number}" for number in range(1, 12))
    result = get_metric("ged").load(seconds=1e-9)("", steps, other)
    assert result.value is None
    assert result.error == "no graph edit distance within 1e-09 seconds"


def test_a_step_too_long_for_the_parser_gives_no_value(ged):
    row = ("", "return " + "ball " * 5000, "return balls")
    prepare(ged, [row])
    assert ged(*row).value is None
    assert "too long" in ged(*row).error


@pytest.mark.parametrize(
    ("first", "second", "ratio"),
    [
        ("", "", 1.0),
        ("a", "", 0.0),
        ("a b c", "a b c", 1.0),
        ("a b c d", "a b", 2 / 3),
        ("a b", "b a", 0.0),
        ("a b c", "x b y c", 4 / 7),
    ],
)
def test_match_ratio(first, second, ratio):
    assert match_ratio(first.split(), second.split()) == pytest.approx(ratio)


def _by_trying_everything(costs: np.ndarray, first_edges: list, second_edges: list) -> float:
    """The least cost over all ways to say which node is which."""
    first_size, second_size = costs.shape
    # Behind the second graph's nodes there is a "removed" for each node of the first.
    targets = [*range(second_size), *[None] * first_size]
    best = float("inf")
    for choice in set(permutations(targets, first_size)):
        cost = sum(1.0 if node is None else costs[place, node] for place, node in enumerate(choice))
        cost += second_size - sum(node is not None for node in choice)
        common = {(choice[start], choice[end]) for start, end in first_edges} & {*second_edges}
        best = min(best, cost + len(first_edges) + len(second_edges) - 2 * len(common))
    return best


@st.composite
def _problems(draw: st.DrawFn) -> tuple[np.ndarray, list, list]:
    sizes = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    costs = np.array([draw(st.integers(0, 10)) / 10 for _ in range(sizes[0] * sizes[1])]).reshape(sizes)
    edges = [
        st.lists(st.tuples(*[st.integers(0, max(size - 1, 0))] * 2), unique=True, max_size=6 * (size > 0))
        for size in sizes
    ]
    return costs, *map(draw, edges)


@settings(max_examples=60, deadline=None)
@given(_problems())
def test_the_least_cost(problem):
    assert edit_distance(*problem, seconds=60) == pytest.approx(_by_trying_everything(*problem), abs=1e-6)


def test_a_self_loop_is_kept_only_as_a_self_loop():
    # The second graph has an edge to the other node in place of the loop: remove one, add one.
    assert edit_distance(np.array([[0.0, 1.0], [1.0, 0.0]]), [(1, 1)], [(1, 0)], seconds=60) == pytest.approx(2.0)


def test_a_program_too_large_to_set_up_is_given_up():
    assert edit_distance(np.full((400, 400), 0.5), [], [], seconds=60) is None
