from __future__ import annotations

import pytest
from hypothesis import given

from qdecomp.data_structures.errors import LogicalFormSyntaxError
from qdecomp.data_structures.logical_form import Argument, LogicalForm, LogicalStep, parse_logical_form
from qdecomp.data_structures.operators import Operator
from tests.strategies import logical_forms


@given(logical_forms())
def test_every_value_reads_back(form: LogicalForm) -> None:
    assert parse_logical_form(str(form)) == form


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


def test_arguments_and_properties_have_one_order_and_approximate_is_a_remark() -> None:
    condition, sub = Argument("condition", ("100",)), Argument("sub", ("#1",))
    step = LogicalStep(Operator.COMPARATIVE, ("more", "equals"), (condition, sub))
    assert step.arguments == (sub, condition)
    assert step.properties == ("equals", "more")
    assert step == LogicalStep(Operator.COMPARATIVE, ("more", "equals"), (condition, sub), approximate=True)
