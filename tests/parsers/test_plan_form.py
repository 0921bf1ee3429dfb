from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdecomp import Decomposition
from qdecomp.files import read_break_csv
from qdecomp.parsers.plan_form import MOST_STEPS_ASKED, gbnf, json_schema, regular_expression
from qdecomp.parsers.prompting import EXAMPLES

PLAN = re.compile(regular_expression())
_STEPS = st.lists(st.text("ab #12.", min_size=1, max_size=8).map(str.strip).filter(bool), min_size=1, max_size=14)


def lines(steps: list[str]) -> str:
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, start=1))


def is_allowed(steps: list[str]) -> bool:
    """Whether every ``#`` belongs to a reference to an earlier step."""
    return len(steps) <= MOST_STEPS_ASKED and all(
        number in map(str, range(1, place))
        for place, step in enumerate(steps, start=1)
        for number in re.findall(r"#(\d*)", step)
    )


@cache
def validator() -> Any:
    return pytest.importorskip("jsonschema").Draft202012Validator(json_schema())


@given(_STEPS)
def test_text_and_json_have_the_same_form(steps: list[str]) -> None:
    assert (PLAN.fullmatch(lines(steps)) is not None) == is_allowed(steps)
    assert validator().is_valid({"steps": steps}) == is_allowed(steps)


@pytest.mark.parametrize(
    "value", [[], {"steps": []}, {"steps": ["a", ""]}, {"steps": ["a", "b\nc"]}, {"steps": ["a"], "x": 1}]
)
def test_what_is_no_plan_is_not_json_of_one(value: object) -> None:
    assert not validator().is_valid(value)


def test_plans_of_people_have_the_form(project_root: object) -> None:
    plans = [list(example.steps) for example in EXAMPLES]
    for name in ("everyday", "engineers"):
        for row in read_break_csv(f"{project_root}/data/{name}.csv"):
            plans.append(list(Decomposition.of_text(row.question, row.decomposition or "").steps))
    others = [steps for steps in plans if PLAN.fullmatch(lines(steps)) is None]
    assert len(plans) > 300
    assert others == []


def test_a_grammar_has_a_rule_for_each_step() -> None:
    root, *rules = gbnf().splitlines()
    assert root.startswith(r'root ::= "1. " step1 ("\n2. " step2 ("\n3. " step3')
    assert root.endswith(r' ("\n12. " step12)?' + ")?" * 10)
    assert [rule.partition(" ::= ")[0] for rule in rules] == [f"step{number}" for number in range(1, 13)]
    assert '"1" | "2"' in rules[2]
    assert '#"' not in rules[0]
