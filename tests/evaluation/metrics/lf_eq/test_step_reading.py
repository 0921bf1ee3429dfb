from __future__ import annotations

import pytest

from qdecomp.data_structures.conversion.qdmr_to_lf import to_logical_form
from qdecomp.data_structures.errors import StepError
from qdecomp.evaluation.metrics.lf_eq.step_reading import MAX_STEPS, MAX_WORDS, Condition, Link, Phrase, read_plan


def phrase(text: str, question: str = "") -> Phrase:
    return read_plan(question, f"dogs ;cats ;hats ;{text}").steps[3].one("condition").phrase


def condition(text: str) -> Condition:
    return read_plan("", f"dogs ;sizes of #1 ;{text}").steps[2].condition


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Words are normalised, also those that are not in the question, and function words are gone.
        ("return the cube that is red", Phrase(frozenset(("cube", "red")))),
        ("the sizes", Phrase(frozenset(("size",)))),
        ("the dogs without hats", Phrase(frozenset(("dog",)), negated=Phrase(frozenset(("hat",))))),
    ],
)
def test_phrases(text: str, expected: Phrase) -> None:
    assert read_plan("How many red cubes are there?", text).steps[0].one("sub").phrase == expected


def test_words_belong_to_the_reference_behind_them() -> None:
    assert phrase("#1 behind #2 and near #3").links == (
        Link(2, frozenset(("behind",))),
        Link(3, frozenset(("near",))),
    )
    assert phrase("#1 wearing #2 and #3").links == (Link(2, frozenset(("wear",))), Link(3, frozenset(("wear",))))
    assert phrase("#1 that are #2").links == (Link(2, same=True),)
    assert phrase("#1 in #2").links == (Link(2),)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#1 where #2 is more than 5", (False, ">", 5)),
        ("#1 where #2 is at least 5", (False, ">=", 5)),
        ("#1 where #2 is at most two", (False, "<=", 2)),
        ("#1 where #2 is not equal to one", (True, "=", 1)),
        ("#1 where #2 is more than one", (False, ">", 1)),
        ("#1 where #2 is 1,200", (False, None, None)),
        ("if #1 is at least one", (False, ">=", 1)),
        ("if #1 is under 30", (False, "<", 30)),
        ("if #1 is in at least one image", (False, None, None)),
        ("if #1 is the same as #2", (False, "=", None)),
    ],
)
def test_comparisons(text: str, expected: tuple[bool, str | None, float | None]) -> None:
    found = condition(text)
    if "1,200" in text:
        # The comma is a token of its own in a decomposition, so this is a list of two words.
        assert found.phrase.words == {"1", "200"}
    assert (found.negated, found.comparison, found.number) == expected


def test_a_logical_form_says_at_least_for_small_numbers_only() -> None:
    for text, sign in (("#1 where #2 is at least one", ">="), ("#1 where #2 is more than 5", ">")):
        form = to_logical_form(f"return dogs ;return sizes of #1 ;return {text}")
        assert read_plan("", form).steps[2].condition.comparison == sign


def test_all_is_a_quantifier_where_it_stands_before_the_reference() -> None:
    assert condition("if all of the #1 are red").universal
    assert not condition("if #1 are all red").universal


@pytest.mark.parametrize("text", ["second highest of #1", "the third of #1", "#1 where #1 is the second lowest"])
def test_an_ordinal_is_an_error_that_says_why(text: str) -> None:
    with pytest.raises(StepError, match=r"step 2: an ordinal \('(second|third)'\) has no meaning"):
        read_plan("", f"dogs ;{text}")


def test_an_ordinal_in_a_name_is_a_word() -> None:
    assert read_plan("", "games ;#1 in the second quarter").steps[1].one("condition").phrase.words


def test_what_is_longer_than_any_question_is_refused() -> None:
    for text in (" ;".join(["dogs"] * (MAX_STEPS + 1)), " ;".join([" ".join(["dogs"] * 101)] * (MAX_WORDS // 100))):
        with pytest.raises(StepError, match="too long"):
            read_plan("", text)


def test_the_answer_is_what_no_step_needs() -> None:
    assert read_plan("", "dogs ;number of #1 ;cats ;number of #3").roots == (2, 4)
    assert read_plan("", "dogs ;number of #1 ;cats").roots == (2,)
    assert read_plan("", "dogs ;cats").roots == (1, 2)
