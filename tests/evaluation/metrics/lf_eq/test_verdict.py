from __future__ import annotations

import pytest

from qdecomp.evaluation.metrics.lf_eq import lf_eq
from qdecomp.evaluation.metrics.lf_eq.step_reading import MAX_STEPS

QUESTION = "Which yellow objects are right of the purple cylinder?"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("balls ;#1 that are shiny ;#2 in the front ;#2 besides #3 ;number of #4",
         "shiny balls ;#1 in the front ;number of #1 ;number of #2 ;difference of #3 and #4"),
        ("cities ;mayors of #1 ;#2 that are old", "cities ;#1 that are old ;mayors of #2"),
        ("images ;dogs in #1 ;number of #2 for each #1 ;#1 where #3 is two",
         "dogs ;images ;number of #1 for each #2 ;#2 where #3 is equal to two"),
        ("dogs ;if #1 are asleep", "dogs ;#1 that are asleep ;number of #2 ;if #3 is at least one"),
    ],
)  # fmt: skip
def test_equal_in_other_steps(one: str, other: str) -> None:
    result = lf_eq(QUESTION, one, other)
    assert result.verdict
    assert result.evidence is None
    assert result.worlds >= 500


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("dogs ;number of #1 ;if #2 is at least 30", "dogs ;number of #1 ;if #2 is at least 40"),
        ("dogs ;#1 that are old ;number of #2", "dogs ;number of #1"),
        ("dogs ;cats of #1 ;number of #2 for each #1", "dogs ;cats of #1 ;number of #2"),
        ("old dogs", "old cats"),
        ("cats ;dogs ;objects ;#3 left of #1 ;#4 right of #2", "cats ;dogs ;objects ;#3 left of #2 ;#4 right of #1"),
        ("people ;first names of #1 ;last names of #1 ;#1 where #2 is Ada ;#4 where #3 is Bo",
         "people ;first names of #1 ;last names of #1 ;#1 where #2 is Bo ;#4 where #3 is Ada"),
    ],
)  # fmt: skip
def test_different_with_a_world_that_shows_it(one: str, other: str) -> None:
    result = lf_eq(QUESTION, one, other)
    assert not result.verdict
    assert result.error is None
    assert result.evidence is not None
    text = str(result.evidence)
    assert all(f"{number}. {step}".lower() in text for number, step in enumerate(other.split(" ;"), start=1))
    assert result.evidence.prediction[-1][1] != result.evidence.gold[-1][1]


def test_the_evidence_is_what_the_words_compute() -> None:
    """The table is checked by hand: what it says of the words gives what it says of the steps."""
    evidence = lf_eq("", "red dogs", "dogs").evidence
    assert evidence is not None
    words = {word: set(things.split()) - {"none"} for word, things in evidence.words if "relation" not in word}
    dogs, red = words["dog"], words["red"]
    (prediction,), (gold,) = evidence.prediction, evidence.gold
    assert set(gold[1].split()) - {"none"} == dogs
    assert set(prediction[1].split()) - {"none"} == dogs & red != dogs


def test_a_side_without_meaning_is_an_error_that_names_it() -> None:
    result = lf_eq("", "dogs ;second highest of #1", "dogs ;number of #7")
    assert not result.verdict
    assert result.error == (
        "prediction: step 2: an ordinal ('second') has no meaning over sets of things; "
        "gold: step 2: refers to #7, but there are 2 steps"
    )


def test_worlds_in_which_everything_is_equal_prove_nothing() -> None:
    result = lf_eq("", "dogs ;#1 besides #1", "cats ;#1 besides #1")
    assert not result.verdict
    assert result.error is not None
    assert "proves nothing" in result.error


def test_the_seed_decides() -> None:
    one, other = "dogs ;number of #1", "dogs ;#1 that are old ;number of #2"
    first, second = lf_eq("", one, other, seed=3).evidence, lf_eq("", one, other, seed=3).evidence
    assert first == second != lf_eq("", one, other, seed=4).evidence


def test_the_longest_input_is_compared() -> None:
    """Twice as many steps as the longest question has, each needing the one before it."""
    steps = ["dogs", *(f"w{number} of #{number}" for number in range(1, MAX_STEPS))]
    assert lf_eq("", " ;".join(steps), " ;".join(steps)).verdict
    changed = [*steps[:-1], f"v of #{MAX_STEPS - 1}"]
    assert not lf_eq("", " ;".join(steps), " ;".join(changed)).verdict
