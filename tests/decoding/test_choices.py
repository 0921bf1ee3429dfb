from __future__ import annotations

import pytest

from qdecomp.data_structures.edge_tags import parse_tag, tag_vocabulary
from qdecomp.decoding.choices import TokenKind, is_possible, read_label, token_kinds
from tests.decoding.decoding_examples import TOKENS

WORD, SEPARATOR, DUPLICATE, DUMMY = TokenKind


def test_the_kinds_of_tokens():
    assert token_kinds(TOKENS) == (*[WORD] * 5, SEPARATOR, WORD, DUPLICATE, DUPLICATE, DUMMY, DUMMY)
    assert token_kinds(("just", "words")) == (WORD, WORD)
    assert token_kinds(()) == ()


def test_every_tag_is_a_label():
    assert all(read_label(tag) is not None for tag in tag_vocabulary())


def test_labels_are_read():
    assert read_label("duplicate&filter-sub") == ("duplicate", parse_tag("filter-sub"))
    assert read_label("NONE") is None
    assert read_label("filter-sub&") is None


@pytest.mark.parametrize(
    ("head", "dependent", "rightwards", "label", "possible"),
    [
        (WORD, WORD, True, "span", True),
        (WORD, WORD, False, "span", False),
        (WORD, DUPLICATE, True, "span", True),
        (WORD, WORD, True, "span&filter-sub", False),
        (WORD, WORD, False, "filter-sub", True),
        (DUMMY, DUPLICATE, False, "filter-sub", True),
        (DUPLICATE, WORD, False, "duplicate", True),
        (DUPLICATE, WORD, False, "duplicate&unused", True),
        (DUPLICATE, DUPLICATE, True, "duplicate", False),
        (DUPLICATE, DUMMY, True, "duplicate", False),
        (WORD, WORD, False, "duplicate", False),
        (SEPARATOR, WORD, False, "filter-sub", False),
        (WORD, SEPARATOR, True, "span", False),
        (WORD, WORD, True, "@@UNKNOWN@@", False),
    ],
)
def test_which_tokens_a_label_may_link(head, dependent, rightwards, label, possible):
    assert is_possible(head, dependent, rightwards, label) is possible
