"""Laws that every meaning has to obey, on random decompositions."""

from __future__ import annotations

import random

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from qdecomp.data_structures.errors import QDecompError
from qdecomp.data_structures.logical_form import LogicalForm
from qdecomp.data_structures.qdmr import Qdmr, Step, reference_number
from qdecomp.evaluation.metrics.lf_eq import LfEqResult, lf_eq
from qdecomp.evaluation.metrics.lf_eq.step_reading import read_plan
from tests.strategies import logical_forms, written_qdmrs

_NOUNS = ("dogs", "cats", "cubes", "films")
_ADJECTIVES = ("red", "big", "shiny", "old", "round")

nouns = st.sampled_from(_NOUNS)
adjectives = st.lists(st.sampled_from(_ADJECTIVES), min_size=2, max_size=4, unique=True)
conditions = st.permutations(("that are red", "behind #2", "that are not big", "near #3", "shiny"))
lists = st.sampled_from(
    (
        "#{} , #{} , #{}",
        "#{} and #{} and #{}",
        "#{} or #{} or #{}",
        "sum of #{} , #{} and #{}",
        "multiplication of #{} and #{} and #{}",
    )
)
endings = st.sampled_from(("", "number of", "are there any", "highest of"))


def _end(ending: str, number: int) -> str:
    """A last step that asks something about a step, or nothing."""
    return f" ;{ending} #{number}" if ending else ""


def equal(one: str | Qdmr, other: str | Qdmr) -> bool:
    """Whether two decompositions are equal, in either order, which must not matter."""
    verdict = lf_eq("", one, other).verdict
    assert lf_eq("", other, one).verdict == verdict
    return verdict


@settings(max_examples=80)
@given(logical_forms(), logical_forms())
def test_any_logical_forms_have_a_verdict(one: LogicalForm, other: LogicalForm) -> None:
    result = lf_eq("Which cubes are red?", one, other)
    assert result.verdict or result.error or result.evidence
    assert lf_eq("Which cubes are red?", one, one).evidence is None


@settings(max_examples=80)
@given(written_qdmrs(), written_qdmrs())
def test_symmetric(one: Qdmr, other: Qdmr) -> None:
    equal(one, other)


@settings(max_examples=80)
@given(written_qdmrs(), st.randoms(use_true_random=False))
def test_unchanged_by_renumbering(decomposition: Qdmr, shuffler: random.Random) -> None:
    try:
        read_plan("", decomposition)
    except QDecompError:
        assume(False)
    assert lf_eq("", decomposition, decomposition) == LfEqResult(True)
    places = list(range(len(decomposition)))
    shuffler.shuffle(places)
    new_number = {old + 1: new + 1 for new, old in enumerate(places)}
    steps = [Step(tuple(_renumbered(token, new_number) for token in decomposition.steps[old].tokens)) for old in places]
    # Worlds may all give the same answer, which proves nothing; they never tell the two apart.
    result = lf_eq("", Qdmr(tuple(steps)), decomposition)
    assert result.evidence is None, str(result.evidence)


def _renumbered(token: str, numbers: dict[int, int]) -> str:
    number = reference_number(token)
    return token if number is None else f"#{numbers[number]}"


@given(conditions, conditions, endings)
def test_the_order_of_filters_does_not_matter(one: list[str], other: list[str], ending: str) -> None:
    def write(steps: list[str]) -> str:
        lines = ["dogs", "cats", "cubes", f"#1 {steps[0]}"]
        lines += [f"#{len(lines) + place} {step}" for place, step in enumerate(steps[1:])]
        return " ;".join(lines) + _end(ending, len(lines))

    assert equal(write(one), write(other))


@given(st.permutations((2, 3)), endings)
def test_the_order_of_intersections_does_not_matter(members: list[int], ending: str) -> None:
    start = "dogs ;#1 that are red ;#1 that are big ;#1 in both"
    one, other = (f"{start} #{first} and #{last}{_end(ending, 4)}" for first, last in (members, (2, 3)))
    assert equal(one, other)


@given(st.permutations((1, 2, 3)), lists, endings)
def test_the_order_of_unions_sums_and_products_does_not_matter(members: list[int], text: str, ending: str) -> None:
    one, other = (f"dogs ;cats ;cubes ;{text.format(*each)}{_end(ending, 4)}" for each in (members, (1, 2, 3)))
    assert equal(one, other)


@given(nouns, adjectives, endings)
def test_what_the_three_merging_rules_join_is_equal(noun: str, words: list[str], ending: str) -> None:
    first, rest = words[0], " ".join(words[1:])
    # filter and select, filter and filter, project and select
    assert equal(f"{noun} ;#1 that are {first}{_end(ending, 2)}", f"{first} {noun}{_end(ending, 1)}")
    assert equal(
        f"{noun} ;#1 that are {first} ;#2 that are {rest}{_end(ending, 3)}",
        f"{noun} ;#1 {first} {rest}{_end(ending, 2)}",
    )
    assert equal(f"{noun} ;{first} of #1{_end(ending, 2)}", f"{first} of {noun}{_end(ending, 1)}")
