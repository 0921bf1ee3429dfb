from qdecomp.evaluation.agreement import Agreement, agreement
from tests.evaluation.evaluation_examples import told_evaluation, told_metric

VERDICT = told_metric("verdict")


def test_every_subset_has_a_count_and_together_they_are_all_questions() -> None:
    values = {"a": ["1", "1", "0", "1", "0"], "b": ["0", "1", "0", "1", "0"], "c": ["0", "1", "0", "0", "0"]}
    found = agreement(told_evaluation(values, [VERDICT]), "verdict")
    assert {each.systems: each.questions for each in found} == {
        (): 2,
        ("a",): 1,
        ("b",): 0,
        ("c",): 0,
        ("a", "b"): 1,
        ("a", "c"): 0,
        ("b", "c"): 0,
        ("a", "b", "c"): 1,
    }
    assert found[0] == Agreement((), 2)
    assert [each.questions for each in found] == sorted((each.questions for each in found), reverse=True)


def test_of_many_systems_only_subsets_that_occur_are_listed() -> None:
    names = [f"s{number}" for number in range(7)]
    found = agreement(told_evaluation({name: ["1", "0"] for name in names}, [VERDICT]), "verdict")
    assert found == (Agreement(tuple(names), 1), Agreement((), 1))
