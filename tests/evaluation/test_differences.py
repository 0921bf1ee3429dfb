from __future__ import annotations

import pytest
from hypothesis import given

from qdecomp.data_structures.conversion.qdmr_to_lf import to_logical_form
from qdecomp.data_structures.lf_em import NormalizedStep, normalize_steps
from qdecomp.data_structures.qdmr import parse_qdmr
from qdecomp.evaluation.differences import (
    Analysis,
    DifferenceKind,
    StepDifference,
    StepPairing,
    analyse,
    operator_confusion,
    pair_steps,
    step_differences,
)
from qdecomp.evaluation.metrics import choose_metrics
from qdecomp.evaluation.scoring import score_systems
from tests.evaluation.evaluation_examples import decompositions, gold_of, system_of

GOLD = "return cubes ;return #1 that are red ;return number of #2"


def analysis(gold: str, predicted: str | None) -> Analysis:
    evaluation = score_systems(gold_of({"A_1": gold}), [system_of("s", [predicted])], choose_metrics(["lf_em"]))
    return analyse(evaluation.systems[0].questions[0])


@pytest.mark.parametrize(
    ("predicted", "kinds"),
    [
        (GOLD, ()),
        ("return red cubes ;return number of #1", ()),
        ("return cubes ;return number of #1", ("missing step",)),
        (f"{GOLD} ;return if #3 is even", ("extra step",)),
        ("return cubes ;return #1 that are red ;return sum of #2", ("wrong operator",)),
        ("return cubes ;return #1 that are red ;return number of #1", ("wrong argument",)),
        ("return cubes ;return #1 that are blue ;return number of #2", ("tokens only",)),
        ("return spheres ;return number of #1", ("missing step", "wrong argument")),
        ("return cubes ;return #2 that are red ;return number of #2", ("no logical form",)),
        (None, ("no logical form",)),
    ],
)
def test_kinds(predicted: str | None, kinds: tuple[str, ...]) -> None:
    assert {str(kind) for kind in analysis(GOLD, predicted).kinds} == set(kinds)


def test_the_same_content_in_more_steps_is_elaboration() -> None:
    gold = "return cube ;return object behind #1 ;return color of #2"
    predicted = "return cube ;return object ;return #2 that are behind #1 ;return color of #3"
    assert analysis(gold, predicted).kinds == {DifferenceKind.ELABORATION_LEVEL}
    assert analysis(predicted, gold).kinds == {DifferenceKind.ELABORATION_LEVEL}


def test_the_same_content_with_another_computation_is_not_elaboration() -> None:
    gold = "return cubes ;return number of #1"
    predicted = "return cubes ;return sum of #1 ;return number of #1"
    assert analysis(gold, predicted).kinds == {DifferenceKind.EXTRA_STEP}


def test_steps_carry_remarks_for_the_reader() -> None:
    result = analysis(GOLD, "return cubes ;return sum of #1 ;return #1 that are green")
    assert [(step.text, step.operator) for step in result.steps.gold][1] == ("#1 that are red", "filter")
    assert [step.remarks for step in result.steps.gold] == [(), ("words",), ("operator",)]
    assert [step.remarks for step in result.steps.predicted] == [(), ("operator",), ("words",)]


def test_a_side_without_logical_form_is_still_shown() -> None:
    result = analysis(GOLD, "return  cubes ;; return #9 in red")
    assert [(step.text, step.operator) for step in result.steps.predicted] == [("cubes", ""), ("#9 in red", "")]
    assert [step.operator for step in result.steps.gold] == ["select", "filter", "aggregate"]
    assert result.steps.alignment is None
    assert analysis(GOLD, None).steps.predicted == ()


def test_every_kind_says_what_it_means() -> None:
    assert all(kind.meaning.endswith(".") for kind in DifferenceKind)


def test_confusion_counts_pairs_missing_and_extra_steps() -> None:
    analyses = [
        analysis(GOLD, GOLD),
        analysis(GOLD, "return cubes ;return number of #1"),
        analysis(GOLD, "return cubes ;return if #1 are red ;return number of #2 ;return balls"),
        analysis(GOLD, None),
    ]
    assert operator_confusion(analyses) == {
        ("select", "select"): 3,
        ("filter", "filter"): 1,
        ("filter", "none"): 1,
        ("filter", "boolean"): 1,
        ("aggregate", "aggregate"): 3,
        ("none", "select"): 1,
    }


@given(decompositions(), decompositions())
def test_a_wrong_answer_has_a_kind_and_a_right_one_has_none(gold: str, predicted: str) -> None:
    result = analysis(gold, predicted)
    assert bool(result.kinds) == (not result.question.results["lf_em"].value)


def steps(text: str) -> tuple[NormalizedStep, ...]:
    return normalize_steps("", to_logical_form(parse_qdmr(text)))


def aligned(gold: str, predicted: str) -> StepPairing:
    return pair_steps(steps(gold), steps(predicted))


def differences(alignment: StepPairing) -> dict[tuple[int, int], set[StepDifference]]:
    return {(one, other): set(found) for one, other, found in step_differences(alignment) if found}


CUBES = "return cubes ;return #1 that are red ;return number of #2"


def test_a_decomposition_is_aligned_with_itself() -> None:
    alignment = aligned(CUBES, CUBES)
    assert alignment.pairs == ((0, 0), (1, 1), (2, 2))
    assert differences(alignment) == {}


def test_the_order_of_steps_does_not_matter() -> None:
    alignment = aligned("return cubes ;return spheres ;return #1 , #2", "return spheres ;return cubes ;return #2 , #1")
    assert set(alignment.pairs) == {(0, 1), (1, 0), (2, 2)}
    assert differences(alignment) == {}


def test_a_missing_step_in_a_chain_is_one_difference() -> None:
    alignment = aligned(CUBES, "return cubes ;return number of #1")
    assert alignment.missing == (1,)
    assert alignment.extra == ()
    assert differences(alignment) == {}


def test_an_extra_step_is_the_other_way_round() -> None:
    alignment = aligned("return cubes ;return number of #1", CUBES)
    assert (alignment.missing, alignment.extra) == ((), (1,))
    assert differences(alignment) == {}


def test_a_step_that_is_part_of_another_is_joined() -> None:
    alignment = aligned(CUBES, "return red cubes ;return number of #1")
    assert (alignment.missing, alignment.joined_gold) == ((), (1,))
    assert differences(alignment) == {}
    other_way = aligned("return red cubes ;return number of #1", CUBES)
    assert (other_way.extra, other_way.joined_predicted) == ((), (1,))
    assert differences(other_way) == {}


@pytest.mark.parametrize(
    ("predicted", "expected"),
    [
        ("return cubes ;return #1 that are blue ;return number of #2", {(1, 1): {StepDifference.WORDS}}),
        ("return cubes ;return #1 that are red ;return sum of #2", {(2, 2): {StepDifference.OPERATOR}}),
        ("return cubes ;return #1 that are red ;return number of #1", {(2, 2): {StepDifference.REFERENCES}}),
        ("return cubes ;return if #1 are red ;return number of #2", {(1, 1): {StepDifference.OPERATOR}}),
    ],
)
def test_what_differs_in_a_pair(predicted: str, expected: dict[tuple[int, int], set[StepDifference]]) -> None:
    assert differences(aligned(CUBES, predicted)) == expected


@given(decompositions(), decompositions())
def test_every_step_has_exactly_one_place(gold: str, predicted: str) -> None:
    alignment = aligned(gold, predicted)
    gold_places = [one for one, _ in alignment.pairs]
    predicted_places = [other for _, other in alignment.pairs]
    assert sorted([*gold_places, *alignment.missing, *alignment.joined_gold]) == list(range(len(alignment.gold)))
    assert sorted([*predicted_places, *alignment.extra, *alignment.joined_predicted]) == list(
        range(len(alignment.predicted))
    )
    assert len(list(step_differences(alignment))) == len(alignment.pairs)
