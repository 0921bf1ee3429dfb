from __future__ import annotations

import pytest
from hypothesis import given

from qdecomp.data_structures.conversion.qdmr_to_lf import to_logical_form
from qdecomp.data_structures.errors import QdmrSyntaxError
from qdecomp.data_structures.lf_em.step_content import StepContent, content_of_step, contents_of_decomposition
from qdecomp.data_structures.qdmr import Qdmr, format_qdmr
from tests.strategies import written_qdmrs


def _sorted_edges(content: StepContent) -> tuple[object, ...]:
    operator, properties, edges, *words = content
    return operator, properties, sorted(edges), [sorted(each) if isinstance(each, tuple) else each for each in words]


@given(written_qdmrs())
def test_the_content_of_a_text_is_that_of_its_logical_form(qdmr: Qdmr) -> None:
    contents = contents_of_decomposition(format_qdmr(qdmr))
    expected = [content_of_step(step) for step in to_logical_form(qdmr).steps]
    assert [_sorted_edges(each) for each in contents] == [_sorted_edges(each) for each in expected]


def test_words_that_count_for_one_metric_only() -> None:
    (content,) = contents_of_decomposition("return cubes that are not red")
    assert content[3:5] == (("cubes", "red"), ("cubes", "not", "red"))


def test_steps_without_words_are_left_out() -> None:
    contents = contents_of_decomposition("return cubes ;return ;return number of #1")
    assert [content[:3] for content in contents] == [("select", (), ()), ("aggregate", ("count",), (("arg", 1),))]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "return",
        "return cubes ;return #3",
        "return #2 ;return #1",
        "return cubes ;return " + "x " * 300,
        "; ".join(["return cubes"] * 101),
    ],
)
def test_what_is_no_decomposition_is_refused_as_by_the_conversion(text: str) -> None:
    with pytest.raises(QdmrSyntaxError) as expected:
        to_logical_form(text)
    with pytest.raises(QdmrSyntaxError) as found:
        contents_of_decomposition(text)
    assert str(found.value) == str(expected.value)
