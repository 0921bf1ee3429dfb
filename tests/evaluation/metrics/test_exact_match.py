from __future__ import annotations

import pytest

from qdecomp.evaluation.metrics.exact_match import exact_match


@pytest.mark.parametrize(
    ("prediction", "gold", "value"),
    [
        ("return Blue Birds ;return number of  #1", "return blue birds;return number of #1", 1.0),
        ("return chile ;return king of #1", "return chile ;return the king of #1", 0.0),
        ("return #1 or #2", "return #2 or #1", 0.0),
        ("return birds ;", "return birds", 0.0),
    ],
)
def test_verdict(prediction, gold, value):
    assert exact_match("", prediction, gold).value == value


@pytest.mark.parametrize("prediction", ["", "  ", "return", ";"])
def test_an_empty_prediction_is_wrong_and_says_so(prediction):
    result = exact_match("how many birds?", prediction, prediction)
    assert (result.value, result.error) == (0.0, "prediction: there is no step")


@pytest.mark.parametrize("text", ["return cubes ;return color of #2", "return #2 ;return #1", "return cubes of #7"])
def test_bad_references_do_not_matter_to_a_comparison_of_texts(text):
    assert exact_match("", text, text).value == 1.0
    assert exact_match("", text, "return cubes").value == 0.0


def test_every_official_verdict(official_rows):
    wrong = [
        row["question_id"]
        for row in official_rows
        if exact_match(row["question"], row["prediction"], row["gold"]).value != float(row["exact_match"])
    ]
    assert not wrong
