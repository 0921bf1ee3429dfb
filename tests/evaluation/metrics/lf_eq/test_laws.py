"""Laws that every meaning has to obey, on random decompositions."""

from __future__ import annotations

import random

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from qdecomp.data_structures.errors import QDecompError
from qdecomp.data_structures.logical_form import LogicalForm
from qdecomp.data_structures.qdmr import Qdmr, Step, reference_number, reference_to
from qdecomp.evaluation.metrics.lf_eq import lf_eq
from qdecomp.evaluation.metrics.lf_eq.step_reading import read_plan
from tests.strategies import logical_forms, written_qdmrs

_NOUNS = ("dogs", "cats", "cubes", "films")
_ADJECTIVES = ("red", "big", "shiny", "old", "round")

nouns = st.sampled_from(_NOUNS)
adjectives = st.lists(st.sampled_from(_ADJECTIVES), min_size=2, max_size=4, unique=True)
conditions = st.permutations(("that are red", "behind #2", "that are not big", "near #3", "shiny"))
endings = st.sampled_from(("", "number of", "are there any", "highest of"))


def _end(ending: str, number: int) -> str:
    """A last step that asks something about a step, or nothing."""
    return f" ;{ending} #{number}" if ending else ""


def equal(one: str, other: str) -> bool:
    """Whether two decompositions are equal, in either order, which must not matter."""
    verdict = lf_eq("", one, other).verdict
    assert lf_eq("", other, one).verdict == verdict
    return verdict


@settings(max_examples=150)
@given(written_qdmrs())
def test_reflexive(decomposition: Qdmr) -> None:
    try:
        read_plan("", decomposition)
    except QDecompError:
        assume(False)
    result = lf_eq("", decomposition, decomposition)
    assert result.verdict
    assert result.error is None


@settings(max_examples=150)
@given(logical_forms(), logical_forms())
def test_any_logical_forms_have_a_verdict(one: LogicalForm, other: LogicalForm) -> None:
    result = lf_eq("Which cubes are red?", one, other)
    assert result.verdict or result.error or result.evidence
    assert lf_eq("Which cubes are red?", one, one).evidence is None


@settings(max_examples=100)
@given(written_qdmrs(), written_qdmrs())
def test_symmetric(one: Qdmr, other: Qdmr) -> None:
    assert lf_eq("", one, other).verdict == lf_eq("", other, one).verdict


@settings(max_examples=100)
@given(written_qdmrs(), st.randoms(use_true_random=False))
def test_unchanged_by_renumbering(decomposition: Qdmr, shuffler: random.Random) -> None:
    try:
        read_plan("", decomposition)
    except QDecompError:
        assume(False)
    places = list(range(len(decomposition)))
    shuffler.shuffle(places)
    new_number = {old + 1: new + 1 for new, old in enumerate(places)}
    renumbered = [
        Step(tuple(_renumbered(token, new_number) for token in decomposition.steps[old].tokens)) for old in places
    ]
    result = lf_eq("", Qdmr(tuple(renumbered)), decomposition)
    # Worlds may all give the same answer, which proves nothing; they never tell the two apart.
    assert result.evidence is None, str(result.evidence)


def _renumbered(token: str, numbers: dict[int, int]) -> str:
    number = reference_number(token)
    return token if number is None else reference_to(numbers[number])


@given(conditions, conditions, endings)
def test_the_order_of_filters_does_not_matter(one: list[str], other: list[str], ending: str) -> None:
    def write(steps: list[str]) -> str:
        lines = ["dogs", "cats", "cubes", f"#1 {steps[0]}"]
        lines += [f"#{len(lines) + place} {step}" for place, step in enumerate(steps[1:])]
        return " ;".join(lines) + _end(ending, len(lines))

    assert equal(write(one), write(other))


@given(st.permutations(("#1", "#2", "#3")), st.sampled_from((" , ", " and ", " or ")), endings)
def test_the_order_of_unions_does_not_matter(members: list[str], joint: str, ending: str) -> None:
    rest = _end(ending, 4)
    assert equal(f"dogs ;cats ;cubes ;{joint.join(members)}{rest}", f"dogs ;cats ;cubes ;#1 , #2 , #3{rest}")


@given(st.permutations(("#2", "#3")), endings)
def test_the_order_of_intersections_does_not_matter(members: list[str], ending: str) -> None:
    start = "dogs ;#1 that are red ;#1 that are big"
    rest = _end(ending, 4)
    assert equal(f"{start} ;#1 in both {' and '.join(members)}{rest}", f"{start} ;#1 in both #2 and #3{rest}")
    filtered = f"dogs ;#1 that are red ;#2 that are big{_end(ending, 3)}"
    assert equal(f"{start} ;#1 in both {' and '.join(members)}{rest}", filtered)


@given(st.permutations(("#4", "#5", "#6")), st.sampled_from(("sum", "multiplication")))
def test_the_order_of_sums_and_products_does_not_matter(members: list[str], name: str) -> None:
    start = "dogs ;cats ;cubes ;number of #1 ;number of #2 ;number of #3"
    assert equal(f"{start} ;{name} of {' and '.join(members)}", f"{start} ;{name} of #4 and #5 and #6")


@given(nouns, adjectives)
def test_double_negation(noun: str, words: list[str]) -> None:
    phrase = " ".join(words)
    assert equal(f"{noun} ;#1 that are not {phrase} ;#1 besides #2", f"{noun} ;#1 that are {phrase}")
    assert not equal(f"{noun} ;#1 that are not {phrase}", f"{noun} ;#1 that are {phrase}")


@given(nouns, adjectives, st.sampled_from(("besides", "not", "not in")))
def test_besides_is_not(noun: str, words: list[str], word: str) -> None:
    phrase = " ".join(words)
    assert equal(f"{noun} ;#1 that are {phrase} ;#1 {word} #2", f"{noun} ;#1 that are not {phrase}")


@given(nouns, adjectives, st.sampled_from(("is at least one", "is more than zero", "is higher than 0")))
def test_counting_and_comparing_is_existence(noun: str, words: list[str], comparison: str) -> None:
    phrase = " ".join(words)
    counted = f"{noun} ;#1 that are {phrase} ;number of #2 ;if #3 {comparison}"
    for existence in ("if there are any #2", "is there any #2"):
        assert equal(counted, f"{noun} ;#1 that are {phrase} ;{existence}")
    assert equal(counted, f"{noun} ;if any #1 are {phrase}")


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
