from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdecomp.evaluation.metrics.sari import sari, sari_score


def test_by_hand():
    # Single words: keep b; x and y are added where x is wanted (precision 1/2, recall 1); a is deleted.
    # Pairs: b-x and x-y are added where b-x is wanted (again 2/3). Triples: b-x-y is added, nothing is wanted (0).
    # Nothing else is to be kept, added or deleted wrongly, and what there is nothing of counts as right.
    add = (2 / 3, 2 / 3, 0, 1)
    assert sari_score("a b", "b x y", "b x") == pytest.approx((4 + sum(add) + 4) / 12)


def test_case_counts():
    assert sari_score("Birds", "birds", "Birds") < sari_score("Birds", "Birds", "Birds") == 1.0


def test_a_trailing_space_of_the_question_is_a_word():
    assert sari_score("birds ", "birds", "birds") == 1.0
    assert sari_score("birds x ", "birds ", "birds") != sari_score("birds x", "birds ", "birds")


@pytest.mark.parametrize("prediction", ["", " ; return"])
def test_an_empty_prediction_earns_nothing(prediction):
    result = sari("how many birds?", prediction, "return birds ;return number of #1")
    assert (result.value, result.error) == (0.0, "prediction: there is no step")


@given(*[st.text("ab @1;#", max_size=30)] * 3)
def test_between_zero_and_one(question, prediction, gold):
    assert 0.0 <= sari(question, prediction, gold).value <= 1.0


def test_every_official_value(official_rows):
    wrong = [
        row["question_id"]
        for row in official_rows
        if sari(row["question"], row["prediction"], row["gold"]).value != pytest.approx(row["sari"], abs=5e-7, rel=0)
    ]
    assert not wrong
