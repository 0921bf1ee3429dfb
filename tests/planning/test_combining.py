from __future__ import annotations

from datetime import date, datetime
from typing import Any

import pytest

from qdecomp.planning.running import Outcome, StepRun
from tests.plans import plan_of

NAMES = ["ant", "bee", "cat"]


def last_step(text: str, answers: dict[int, Any]) -> StepRun:
    """Run a plan whose first steps have these answers; what else is asked is answered with a mark."""
    run = plan_of(text).run(lambda question: answers.get(question.step.number, "ASKED"), concurrency=1)
    return run.steps[-1]


SIZES = "animals; size of #1; "
COUNTRIES = "Norland; Sudland; capital of #1; capital of #2; "

COMBINED: list[tuple[str, dict[int, Any], Any]] = [
    ("animals; number of #1", {1: []}, 0),
    ("a; b; the difference of #1 and #2", {1: 9.8, 2: 3.7}, 6.1),
    ("sizes; average of #1", {1: ["2", "4"]}, 3),
    ("sizes; highest of #1", {1: ["1,200", 7]}, 1200),
    ("sizes; lowest of #1", {1: {"a": 3, "b": 2}}, 2),
    ("sizes; highest of #1", {1: []}, []),
    (SIZES + "#1 where #2 is highest", {1: NAMES, 2: [1, 9, 3]}, "bee"),
    (SIZES + "#1 where #2 is highest", {1: NAMES, 2: {"Cat": 5, "ant": 1, "bee": 2}}, "cat"),
    (SIZES + "#1 where #2 is lowest", {1: NAMES, 2: [1, 9, 1]}, ["ant", "cat"]),
    (SIZES + "#1 where #2 is at least 3", {1: NAMES, 2: [1, 9, 3]}, ["bee", "cat"]),
    (SIZES + "#1 where #2 is the same as 9", {1: NAMES, 2: [1, 9, 3]}, ["bee"]),
    (SIZES + "#1 sorted by #2", {1: NAMES, 2: [2, 9, 1]}, ["cat", "ant", "bee"]),
    (SIZES + "#1 sorted by #2 in descending order", {1: NAMES, 2: [2, 9, 1]}, ["bee", "ant", "cat"]),
    ("animals; legs of #1; number of #2 for each #1", {1: NAMES, 2: [["l"] * 6, ["l"] * 6, ["l"] * 4]},
     {"ant": 6, "bee": 6, "cat": 4}),
    ("a; b; #1 , #2", {1: ["ant", "bee"], 2: "Ant"}, ["ant", "bee"]),
    ("animals; #1 that fly; #1 that bite; animals in both #2 and #3",
     {1: NAMES, 2: ["ant", "bee"], 3: ["bee", "cat"]}, ["bee"]),
    ("animals; #1 that fly; #1 besides #2", {1: NAMES, 2: ["BEE"]}, ["ant", "cat"]),
    ("a; b; the difference of #1 and #2", {1: 3, 2: "5"}, -2),
    ("a; the division of #1 and 4", {1: 2}, 0.5),
    ("a; if there are any #1", {1: []}, False),
    ("a; b; if both #1 and #2 are true", {1: True, 2: False}, False),
    ("a; b; if either #1 or #2 is true", {1: True, 2: False}, True),
    ("a; b; if #1 is the same as #2", {1: "New York", 2: "new york"}, True),
    ("Bears; Lions; points of #1; points of #2; which is highest of #3 , #4",
     {1: "the Bears", 2: "the Lions", 3: 27, 4: 31}, "the Lions"),
    ("a; b; is #1 red; is #2 red; which is true of #3 , #4", {1: "A", 2: "B", 3: True, 4: True}, ["A", "B"]),
    (COUNTRIES + "population of #3; population of #4; which is highest of #5 , #6",
     {1: "Norland", 2: "Sudland", 3: "Nor City", 4: "Sud Town", 5: "2,000", 6: 1500}, "Nor City"),
    (COUNTRIES + "if #3 is old; if #4 is old; which is true of #5 , #6",
     {1: "Norland", 2: "Sudland", 3: ["Nor City"], 4: "Sud Town", 5: True, 6: False}, "Nor City"),
    ("Bears; Lions; games of #1; games of #2; #3 that were won; #4 that were won; number of #5; number of #6; "
     "which is highest of #7 , #8",
     {1: "the Bears", 2: "the Lions", 3: ["A", "B"], 4: ["C", "D"], 5: [], 6: ["D"]}, "the Lions"),
    ("Texas; Ohio; rivers of #1; rivers of #2; lengths of #3; lengths of #4; highest of #5; highest of #6; "
     "which is lowest of #7 , #8",
     {1: "Texas", 2: "Ohio", 3: ["a", "b"], 4: ["c", "d"], 5: [9, 5], 6: [8, 7]}, "Ohio"),
    ("cubes; #1 that are red; #1 that are blue; number of #2; number of #3; which is highest of #4 , #5",
     {1: ["a", "b", "c"], 2: ["a"], 3: ["b", "c"]}, "cubes that are blue"),
    ("red cubes; blue ones; number of #1; number of #2; which is highest of #3 , #4", {1: ["a"], 2: []}, "red cubes"),
    (SIZES + "#1 where #2 is highest; #1 where #2 is lowest; speed of #3; speed of #4; which is highest of #5 , #6",
     {1: NAMES, 2: [1, 9, 3], 5: 4, 6: 5}, "ant"),
    ("animals; #1 that fly", {1: []}, []),
    ("prices; highest of #1", {1: ["$3.00", "$12.50", "$4"]}, "$12.50"),
    ("weights; average of #1", {1: ["3 kg", "4 kilograms"]}, "3.5 kg"),
    ("a; b; the difference of #1 and #2", {1: "12%", 2: "9.5 percent"}, "2.5%"),
    ("a; b; the division of #1 and #2", {1: "3 km", 2: "2 km"}, 1.5),
    ("a; the division of #1 and 4", {1: "10 points"}, "2.5 point"),
    ("a; b; the difference of #1 and #2", {1: date(2024, 3, 1), 2: "2024-02-01"}, "29 days"),
    (SIZES + "#1 where #2 is more than 3", {1: NAMES, 2: ["3.5 kg", "900 kg", "2 kg"]}, ["ant", "bee"]),
    (SIZES + "#1 where #2 is more than 3 kg", {1: NAMES, 2: ["3.5 kg", "900 kg", "2 kg"]}, ["ant", "bee"]),
    (SIZES + "#1 where #2 is later than 1970", {1: NAMES[:2], 2: ["1969-07-20", date(1971, 1, 1)]}, ["bee"]),
    (SIZES + "#1 where #2 is highest", {1: NAMES[:2], 2: ["1969-07-20", datetime(1971, 1, 1, 12)]}, "bee"),
    (SIZES + "sum of #2", {1: NAMES[:2], 2: {3, 4}}, 7),
    ("100", {}, 100),
]  # fmt: skip


@pytest.mark.parametrize(("text", "answers", "expected"), COMBINED, ids=lambda value: str(value)[-60:])
def test_what_types_allow_is_combined(text: str, answers: dict[int, Any], expected: Any) -> None:
    step = last_step(text, answers)
    assert step.outcome is Outcome.COMBINED
    assert step.answer == expected
    assert type(step.answer) is type(expected)


ASKED: list[tuple[str, dict[int, Any]]] = [
    ("animals; number of #1", {1: "many"}),
    (SIZES + "#1 where #2 is highest", {1: NAMES, 2: [1, 9]}),
    (SIZES + "#1 where #2 is highest", {1: NAMES, 2: ["big", "small", "big"]}),
    (SIZES + "#1 where #2 is highest", {1: NAMES, 2: {"ant": 1}}),
    ("animals; sizes; #1 where #2 is highest", {1: NAMES, 2: [1, 2, 3]}),
    (SIZES + "#1 where #2 is not more than 3", {1: NAMES, 2: [1, 9, 3]}),
    (SIZES + "#1 sorted by name", {1: NAMES, 2: [1, 9, 3]}),
    ("films; plays; actors in both #1 and #2", {1: ["X"], 2: ["X"]}),
    ("film A; film B; actors in both #1 and #2", {1: "A", 2: "B"}),
    ("a; b; the difference of #1 and #2", {1: 3, 2: "five or six"}),
    ("a; b; if #1 is not the same as #2", {1: 3, 2: 3}),
    ("a; b; which is higher of #1 , #2", {1: "Everest", 2: "K2"}),
    ("a; #1 that are red", {1: NAMES}),
    ("a; size of #1", {1: NAMES}),
    ("a; second largest of #1", {1: [1, 2, 3]}),
    ("a; highest of #1", {1: ["3 kg", "900 g"]}),
    ("a; highest of #1", {1: ["$3", 5]}),
    ("a; sum of #1", {1: [date(2024, 3, 1)]}),
    ("a; b; the multiplication of #1 and #2", {1: "3 m", 2: "2 m"}),
    ("a; b; the multiplication of #1 and #2", {1: "12%", 2: 50}),
    ("a; b; if #1 is the same as #2", {1: "1 kg", 2: "1000 g"}),
    (SIZES + "#1 where #2 is later than noon", {1: NAMES, 2: [date(1969, 7, 20)] * 3}),
    # A set does not say which number belongs to which animal.
    (SIZES + "#1 where #2 is highest", {1: NAMES, 2: {1, 9, 3}}),
]


@pytest.mark.parametrize(("text", "answers"), ASKED, ids=lambda value: str(value)[-60:])
def test_what_types_do_not_allow_is_asked(text: str, answers: dict[int, Any]) -> None:
    step = last_step(text, answers)
    assert step.outcome is Outcome.ASKED
    assert step.answer == "ASKED"


def test_division_by_zero_is_an_error_at_its_step() -> None:
    step = last_step("a; b; the division of #1 and #2", {1: 3, 2: 0})
    assert step.outcome is Outcome.FAILED
    assert step.reason == "step 3: 3 cannot be divided by zero"
    assert step.attempts == 0
