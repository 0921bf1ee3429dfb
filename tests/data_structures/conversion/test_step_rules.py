from __future__ import annotations

import pytest
from hypothesis import given

from qdecomp.data_structures.conversion.qdmr_to_lf import to_logical_step, to_step
from qdecomp.data_structures.conversion.step_rules import STEP_RULES, StepRule
from qdecomp.data_structures.logical_form import format_step, parse_step
from qdecomp.data_structures.operators import OPERATORS, Operator
from qdecomp.data_structures.qdmr import Qdmr, Step
from tests.strategies import written_qdmrs


@pytest.mark.parametrize("rule", STEP_RULES, ids=lambda rule: rule.example)
def test_every_row_reads_its_own_example(rule: StepRule) -> None:
    step = to_logical_step(Step(tuple(rule.example.split())))
    assert format_step(step) == rule.reads
    assert step.approximate == rule.approximate
    assert rule.pattern.fullmatch(rule.example)


@given(written_qdmrs())
def test_the_first_rule_that_fits_is_taken(qdmr: Qdmr) -> None:
    for step in qdmr.steps:
        fitting = [
            rule
            for rule in STEP_RULES
            if rule.references[0] <= len(step.references) <= rule.references[1] and rule.pattern.fullmatch(step.text)
        ]
        assert to_logical_step(step).operator is fitting[0].operator


def test_every_operator_has_a_rule() -> None:
    assert {rule.operator for rule in STEP_RULES} == set(Operator)


@pytest.mark.parametrize(
    ("operator", "name"), [(operator, name) for operator in Operator for name in OPERATORS[operator].properties]
)
def test_every_property_can_be_written_and_is_read_back(operator: Operator, name: str) -> None:
    arguments = {
        Operator.AGGREGATE: "arg=#1",
        Operator.ARITHMETIC: "arg=#1, arg=#2" if name in ("sum", "multiply") else "left=#1, right=#2",
        Operator.BOOLEAN: "sub=#1, sub=#2" if name.startswith(("and", "or")) else "sub=#1",
        Operator.COMPARATIVE: "sub=#1, attribute=#2, condition=100",
        Operator.COMPARISON: "arg=#1, arg=#2",
        Operator.GROUP: "key=#1, value=#2",
        Operator.SUPERLATIVE: "sub=#1, attribute=#2",
    }[operator]
    step = parse_step(f"{operator.value.upper()}[{name}]({arguments})")
    assert to_logical_step(to_step(step)) == step
