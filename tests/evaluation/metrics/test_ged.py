from __future__ import annotations

import pytest

from qdecomp.evaluation.metrics.ged import Ged, match_ratio
from qdecomp.evaluation.metrics.metric_table import MetricOptions, get_metric, prepare

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
    return get_metric("ged").load(MetricOptions())


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
    result = get_metric("ged").load(MetricOptions(ged_seconds=1e-9))("", steps, other)
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
