from __future__ import annotations

from qdecomp.evaluation.differences import analyse
from qdecomp.evaluation.report.disagreements import disagreements
from qdecomp.evaluation.scoring import choose_metrics, evaluate
from tests.evaluation.evaluation_examples import gold_of, system_of


def test_only_questions_with_different_verdicts_are_there_with_who_is_right() -> None:
    gold = gold_of({f"GEO_dev_{place}": "return rivers ;return number of #1" for place in range(4)})
    right, wrong = "return rivers ;return number of #1", "return rivers"
    systems = {"a": [right, right, wrong, wrong], "b": [right, wrong, right, wrong], "c|d": [right, wrong, right, None]}
    evaluation = evaluate(gold, [system_of(*each) for each in systems.items()], choose_metrics(["lf_em"]))
    found = disagreements(
        [(system.name, [analyse(each) for each in system.questions]) for system in evaluation.systems]
    )
    assert [(each.place, each.right, each.wrong, each.right_key) for each in found] == [
        (2, ("a",), ("b", "c|d"), "0"),
        (3, ("b", "c|d"), ("a",), "1,2"),
    ]
    assert found[0].kinds == ("missing step",)
    assert found[0].steps == 2
    assert [name for name, _ in found[0].analyses] == ["a", "b", "c|d"]
