from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qdecomp.evaluation.metrics import get_metric, prepare
from qdecomp.evaluation.metrics.ged import EditProblem, Ged, TimeIsUpError, edit_distance, match_ratio

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


def test_the_same_graph_has_no_distance(ged):
    assert ged("", "return red balls ;return number of #1", "return red balls;return number of  #1").value == 0.0


def test_by_hand(ged):
    # The first steps share a space and "ball" of 2 and 3 words: 1 - 4/5. Then a node and an edge are added.
    # 2.2 of 3 nodes and edges at most.
    assert ged("", "return balls", "return red balls ;return number of #1").value == pytest.approx(2.2 / 3)


def test_lemmas_count_and_not_words(ged):
    assert ged("", "return ball", "return balls").value == pytest.approx(0.0, abs=1e-9)


def test_published_values(ged, official_rows):
    rows = [row for row in official_rows if row["question_id"] in _PUBLISHED]
    assert rows
    for row in rows:
        value = ged(row["question"], row["prediction"], row["gold"]).value
        assert value == pytest.approx(_PUBLISHED[row["question_id"]], abs=1e-6), row["question_id"]


@pytest.mark.parametrize("prediction", ["", " ; "])
def test_an_empty_prediction_shares_nothing_with_the_gold_graph(ged, prediction):
    result = ged("", prediction, "return balls")
    assert (result.value, result.error) == (1.0, "prediction: there is no step")


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
    result = ged("", "return " + "ball " * 5000, "return balls")
    assert result.value is None
    assert "too long" in result.error


def test_preparing_changes_nothing(ged):
    row = ("", "return balls ;return color of #1", "return colors of balls")
    before = Ged(20)(*row)
    prepared = Ged(20)
    prepare(prepared, [row])
    assert prepared(*row) == before


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
