from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdecomp.data_structures.errors import LogicalFormSyntaxError
from qdecomp.data_structures.logical_form import (
    Argument,
    LogicalForm,
    LogicalStep,
    format_logical_form,
    format_step,
    logical_form_from_json,
    logical_form_to_json,
    parse_logical_form,
    parse_step,
)
from qdecomp.data_structures.operators import OPERATORS, Operator
from tests.data_structures.reading_back import assert_reads_back_or_is_refused
from tests.strategies import logical_forms


@pytest.mark.parametrize("operator", list(Operator))
def test_the_examples_of_the_papers_table_read_and_write(operator: Operator) -> None:
    text = OPERATORS[operator].logical_form
    assert parse_step(text).operator is operator
    assert format_step(parse_step(text)) == text


@given(logical_forms())
def test_text_and_json_round_trip(form: LogicalForm) -> None:
    assert parse_logical_form(format_logical_form(form)) == form
    assert logical_form_from_json(json.loads(json.dumps(logical_form_to_json(form)))) == form


@given(st.text(max_size=200))
def test_any_text_gives_a_value_that_reads_back_or_our_error(text: str) -> None:
    assert_reads_back_or_is_refused(parse_logical_form, format_logical_form, text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("FLY[](sub=x)", "no operator 'FLY'"),
        ("SELECT[max](sub=x)", "no property 'max'"),
        ("SELECT[](condition=x)", "no argument 'condition'"),
        ("SELECT(sub=x)", "expected OPERATOR"),
        ("SELECT[](cubes)", "expected argument=value"),
        ("SELECT[](x, sub=cubes)", "text before the first argument"),
        ("SELECT[](sub=)", "not a list of tokens"),
        ("FILTER[](sub=#1, condition=x)", "refers to itself"),
    ],
)
def test_what_is_wrong_is_named_with_its_step(text: str, reason: str) -> None:
    with pytest.raises(LogicalFormSyntaxError, match=reason) as caught:
        parse_logical_form(text)
    assert caught.value.step == 1


@pytest.mark.parametrize(
    "value", [None, "SELECT", [None], [{}], [{"operator": "select", "arguments": 3}], [{"operator": 1}]]
)
def test_wrong_json_is_our_error(value: Any) -> None:
    with pytest.raises(LogicalFormSyntaxError):
        logical_form_from_json(value)


def test_arguments_and_properties_have_one_order() -> None:
    condition, sub = Argument("condition", ("100",)), Argument("sub", ("#1",))
    step = LogicalStep(Operator.COMPARATIVE, ("more", "equals"), (condition, sub))
    assert step.arguments == (sub, condition)
    assert step.properties == ("equals", "more")


def test_being_approximate_is_a_remark_only() -> None:
    argument = (Argument("sub", ("cubes",)),)
    assert LogicalStep(Operator.SELECT, (), argument, True) == LogicalStep(Operator.SELECT, (), argument)
