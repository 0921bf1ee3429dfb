from __future__ import annotations

import pytest

from qdecomp.data_structures.conversion.qdmr_to_lf import to_logical_form
from qdecomp.data_structures.logical_form import parse_step
from qdecomp.data_structures.operators import OPERATORS, Operator


def test_every_operator_is_a_row() -> None:
    assert set(OPERATORS) == set(Operator)


@pytest.mark.parametrize("operator", Operator, ids=str)
def test_a_row_names_only_the_operators_own_arguments(operator: Operator) -> None:
    row = OPERATORS[operator]
    assert row.word_arguments
    assert {*row.word_arguments, *row.required, *row.listed, *row.single} <= set(row.arguments)
    assert not {*row.single} & {*row.listed}
    assert all(count == 1 or name in row.listed for name, count in row.required.items())


@pytest.mark.parametrize("operator", Operator, ids=str)
def test_a_row_has_a_template_for_every_property_and_argument(operator: Operator) -> None:
    row = OPERATORS[operator]
    written = {name for template in row.templates for name in template.properties}
    assert {*row.properties} <= written
    assert all(any(f"{{{name}" in template.text for template in row.templates) for name in row.arguments)


@pytest.mark.parametrize("operator", Operator, ids=str)
def test_the_example_of_a_row_is_a_step_of_its_operator(operator: Operator) -> None:
    row = OPERATORS[operator]
    example = parse_step(row.logical_form)
    assert example.operator is operator
    assert {argument.name for argument in example.arguments} >= set(row.required)
    steps = [f"things {number}" for number in range(1, 5)]
    assert to_logical_form(" ;".join(f"return {step}" for step in [*steps, row.step])).steps[-1] == example
