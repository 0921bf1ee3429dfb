import pytest
from hypothesis import given

from qdecomp.data_structures.conversion.qdmr_to_lf import to_logical_form
from qdecomp.data_structures.lf_em import NormalizedStep, normalize_steps
from qdecomp.data_structures.qdmr import parse_qdmr
from qdecomp.evaluation.step_alignment import StepDifference, StepPairing, pair_steps, step_differences
from tests.evaluation.evaluation_examples import decompositions


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
