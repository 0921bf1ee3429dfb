from __future__ import annotations

from qdecomp.evaluation.report.reasons import error_reasons
from qdecomp.evaluation.scoring import choose_metrics, evaluate
from tests.evaluation.evaluation_examples import gold_of, system_of


def test_wordings_that_differ_in_numbers_are_one_kind_with_its_commonest_wording() -> None:
    gold = gold_of({f"GEO_dev_{place}": "return rivers" for place in range(4)})
    first = system_of("first", ["return #1", "return #1", "return a ;return #2", "return rivers"])
    second = system_of("second", ["return #7", "return #1", "return rivers", "return rivers"])
    reasons = error_reasons(evaluate(gold, [first, second], choose_metrics(["lf_em"])))
    assert [(reason.example, reason.others, reason.counts) for reason in reasons] == [
        ("prediction: step 1: refers to itself (#1)", 1, (3, 1)),
        ("prediction: step 1: refers to #7, but there are 1 steps", 0, (0, 1)),
    ]


def test_without_errors_there_are_no_reasons() -> None:
    gold = gold_of({"GEO_dev_1": "return rivers"})
    assert error_reasons(evaluate(gold, [system_of("a", ["return seas"])], choose_metrics(["lf_em"]))) == ()
