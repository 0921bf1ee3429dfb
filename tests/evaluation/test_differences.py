from __future__ import annotations

import pytest
from hypothesis import given

from qdecomp.evaluation.differences import Analysis, analyse, operator_confusion
from qdecomp.evaluation.metrics import choose_metrics
from qdecomp.evaluation.scoring import score_systems
from tests.evaluation.evaluation_examples import decompositions, gold_of, system_of

GOLD = "return cubes ;return #1 that are red ;return number of #2"


def analysis(gold: str, predicted: str | None) -> Analysis:
    evaluation = score_systems(gold_of({"A_1": gold}), [system_of("s", [predicted])], choose_metrics(["lf_em"]))
    return analyse(evaluation.systems[0].questions[0])


BLUE = GOLD.replace("red", "blue")
SUM = GOLD.replace("number", "sum")
COUNT = "return cubes ;return number of #1"
JOINED = "return red cubes ;return number of #1"
BEHIND = "return cube ;return object behind #1 ;return color of #2"
LONGER = "return cube ;return object ;return #2 that are behind #1 ;return color of #3"


@pytest.mark.parametrize(
    ("gold", "predicted", "kinds", "remarks"),
    [
        (GOLD, GOLD, "", "||/||"),
        ("return cubes ;return spheres ;return #1 , #2", "return spheres ;return cubes ;return #2 , #1", "", "||/||"),
        # A step that is missing from a chain is one difference.
        (GOLD, COUNT, "missing step", "|missing|/|"),
        (COUNT, GOLD, "extra step", "|/|extra|"),
        (GOLD, JOINED, "", "|joined|/|"),
        (JOINED, GOLD, "", "|/|joined|"),
        (GOLD, BLUE, "tokens only", "|words|/|words|"),
        (GOLD, SUM, "wrong operator", "||operator/||operator"),
        (GOLD, GOLD.replace("of #2", "of #1"), "wrong argument", "||references/||references"),
        (GOLD, GOLD.replace("#1 that", "if #1"), "wrong operator", "|operator|/|operator|"),
        (GOLD, "return spheres ;return number of #1", "missing step, wrong argument", "words|missing|/words|"),
        (
            *(GOLD, "return cubes ;return sum of #1 ;return #1 that are green"),
            *("wrong argument, wrong operator", "|words|operator/|operator|words"),
        ),
        # The same content in more steps is elaboration, but not with another computation.
        (BEHIND, LONGER, "elaboration level", "|missing|/|extra|extra|"),
        (LONGER, BEHIND, "elaboration level", "|missing|missing|/|extra|"),
        (COUNT, "return cubes ;return sum of #1 ;return number of #1", "extra step", "|/|extra|"),
        (GOLD, "return cubes ;return #2 that are red ;return number of #2", "no logical form", "||/||"),
        (GOLD, None, "no logical form", "||/"),
    ],
)
def test_kinds_and_remarks_on_steps(gold: str, predicted: str | None, kinds: str, remarks: str) -> None:
    result = analysis(gold, predicted)
    assert ", ".join(sorted(map(str, result.kinds))) == kinds
    sides = (result.steps.gold, result.steps.predicted)
    assert "/".join("|".join(" ".join(step.remarks) for step in steps) for steps in sides) == remarks


def test_a_side_without_logical_form_is_still_shown() -> None:
    result = analysis(GOLD, "return  cubes ;; return #9 in red")
    assert [(step.text, step.operator) for step in result.steps.predicted] == [("cubes", ""), ("#9 in red", "")]
    assert [step.operator for step in result.steps.gold] == ["select", "filter", "aggregate"]
    assert result.steps.pairs is None


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
    if result.steps.pairs is not None:
        # Every step is in one pair or in none, and then it has a remark that says so.
        for side, steps in enumerate((result.steps.gold, result.steps.predicted)):
            alone = [place for place, step in enumerate(steps) if {"missing", "extra", "joined"} & set(step.remarks)]
            assert sorted([*alone, *(pair[side] for pair in result.steps.pairs)]) == list(range(len(steps)))
