from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdecomp.data_structures.edge_tags import (
    STRUCTURAL_TAGS,
    EdgeTag,
    format_tag,
    join_tags,
    parse_tag,
    split_tags,
    tag_vocabulary,
)
from qdecomp.data_structures.errors import GraphError
from qdecomp.data_structures.operators import Operator


@pytest.mark.parametrize("text", [tag for tag in tag_vocabulary() if tag not in STRUCTURAL_TAGS])
def test_every_tag_of_the_vocabulary_reads_back(text):
    assert format_tag(parse_tag(text)) == text


def test_properties_are_sorted_and_each_is_there_once():
    tag = EdgeTag(Operator.BOOLEAN, "sub", ("if-exists", "equals", "equals"))
    assert str(tag) == "boolean-sub[equals,if-exists]"
    assert parse_tag(str(tag)) == tag


@given(st.text())
def test_any_text_is_a_tag_or_our_error(text):
    with suppress(GraphError):
        assert parse_tag(str(parse_tag(text))) == parse_tag(text)


@given(st.sets(st.sampled_from(tag_vocabulary()), min_size=1, max_size=4))
def test_joined_tags_come_apart_again(tags):
    assert set(split_tags(join_tags(tags))) == tags
