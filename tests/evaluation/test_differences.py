import pytest
from hypothesis import given

from qdecomp.evaluation.differences import Analysis, DifferenceKind, analyse, operator_confusion
from qdecomp.evaluation.scoring import choose_metrics, evaluate
from tests.evaluation.evaluation_examples import decompositions, gold_of, system_of

GOLD = "return cubes ;return #1 that are red ;return number of #2"


def analysis(gold: str, predicted: str | None) -> Analysis:
    evaluation = evaluate(gold_of({"A_1": gold}), [system_of("s", [predicted])], choose_metrics(["lf_em"]))
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
    assert [(step.text, step.operator) for step in result.gold][1] == ("#1 that are red", "filter")
    assert [step.remarks for step in result.gold] == [(), ("words",), ("operator",)]
    assert [step.remarks for step in result.predicted] == [(), ("operator",), ("words",)]


def test_a_side_without_logical_form_is_still_shown() -> None:
    result = analysis(GOLD, "return  cubes ;; return #9 in red")
    assert [(step.text, step.operator) for step in result.predicted] == [("cubes", ""), ("#9 in red", "")]
    assert [step.operator for step in result.gold] == ["select", "filter", "aggregate"]
    assert result.alignment is None
    assert analysis(GOLD, None).predicted == ()


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
