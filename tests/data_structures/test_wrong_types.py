"""Whatever a file or a caller gives: a value that reads back, or one of our errors, in one line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qdecomp.data_structures.conversion.chain import convert
from qdecomp.data_structures.conversion.qdmr_to_lf import to_logical_form
from qdecomp.data_structures.dependency_graph import dependency_graph_from_json
from qdecomp.data_structures.edge_tags import format_tag, parse_tag
from qdecomp.data_structures.errors import DataError, QDecompError
from qdecomp.data_structures.graph_codecs import (
    format_conllu,
    format_dot,
    format_span_dot,
    parse_conllu,
    parse_dot,
    parse_span_dot,
)
from qdecomp.data_structures.logical_form import format_logical_form, parse_logical_form, parse_step
from qdecomp.data_structures.qdmr import format_qdmr, parse_qdmr
from qdecomp.data_structures.span_graph import span_graph_from_json
from qdecomp.parsers.decomposition import Decomposition, decomposition_from_record

READERS: tuple[Callable[[Any], Any], ...] = (
    parse_qdmr,
    to_logical_form,
    parse_step,
    parse_logical_form,
    parse_dot,
    parse_span_dot,
    parse_conllu,
    dependency_graph_from_json,
    span_graph_from_json,
    decomposition_from_record,
    lambda value: convert("how many cubes ?", value),
    lambda value: convert(value, "return cubes"),
)
VALUES: tuple[Any, ...] = (None, b"return x", 1, 1.5, True, 10**400, [None], [b"x"], [[]], object())
json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.just(10**400)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["tokens", "edges", "steps", "x"]), inner, max_size=3),
    ),
    max_leaves=6,
)


FORMS: tuple[tuple[Callable[[str], Any], Callable[[Any], str]], ...] = (
    *((parse_qdmr, format_qdmr), (parse_logical_form, format_logical_form), (parse_tag, format_tag)),
    *((parse_dot, format_dot), (parse_span_dot, format_span_dot), (parse_conllu, format_conllu)),
)


@pytest.mark.parametrize(("parse", "write"), FORMS)
@given(text=st.text(max_size=300))
def test_any_text_is_a_value_that_reads_back_or_our_error(
    parse: Callable[[str], Any], write: Callable[[Any], str], text: str
) -> None:
    try:
        value = parse(text)
    except QDecompError:
        return
    assert parse(write(value)) == value


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("read", READERS)
def test_a_value_of_another_type_is_our_error(read: Callable[[Any], Any], value: Any) -> None:
    with pytest.raises(QDecompError) as caught:
        read(value)
    assert "\n" not in str(caught.value)


@settings(max_examples=200)
@given(st.dictionaries(st.sampled_from(["decomposition", "logical_form", "graph", "score", "error"]), json_values))
def test_any_record_is_read_or_our_error(record: dict[str, Any]) -> None:
    message = ""
    try:
        decomposition = decomposition_from_record({"question": "how many cubes ?", **record})
        decomposition.plan()
        str(decomposition)
    except QDecompError as error:
        message = str(error)
    assert "\n" not in message


def test_a_logical_form_has_as_many_steps_as_its_decomposition() -> None:
    record = {"decomposition": "return x ;return #1 y", "logical_form": ["SELECT[](sub=x)"]}
    with pytest.raises(DataError, match="2 steps, the logical form 1"):
        decomposition_from_record(record)
    prediction = Decomposition("x ?", "return x ;return #1 y", parse_logical_form(["SELECT[](sub=x)"]))
    with pytest.raises(DataError, match="2 steps, but 1 in the logical form"):
        prediction.plan()
