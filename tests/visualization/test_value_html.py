from __future__ import annotations

from typing import Any

import pytest

from qdecomp.data_structures.conversion.chain import convert
from qdecomp.data_structures.conversion.qdmr_to_lf import to_logical_form
from qdecomp.data_structures.qdmr import parse_qdmr
from tests.pages import Page

QUESTION = "How many <red> cubes are there?"
TEXT = "return cubes ;return #1 that are <red> ;return number of #2"
CONVERSION = convert(QUESTION, TEXT)


@pytest.mark.parametrize(
    "value",
    [parse_qdmr(TEXT), to_logical_form(TEXT), CONVERSION.span_graph, CONVERSION.graph],
    ids=lambda v: type(v).__name__,
)
def test_values_show_themselves_as_pictures(value: Any) -> None:
    html = value._repr_html_()
    page = Page(html)
    assert page.open == []
    assert page.count("svg") == 1
    assert page.count("style") == 1
    assert "cubes" in page.text
    assert "<red>" not in html
