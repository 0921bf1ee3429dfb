from __future__ import annotations

import pytest

from qdecomp.evaluation.metrics.annotation import Token
from qdecomp.evaluation.metrics.norm_em.document import (
    ALL_PHRASES,
    NO_PHRASES,
    PHRASES_OF_OPERATOR,
    document_of,
    phrases_without,
)
from tests.evaluation.metrics.norm_em.annotated import tokens_of


def test_masks_become_references_and_words_know_their_heads():
    reference, that, are, red = document_of(tokens_of("#12 that/WDT/nsubj/2 are/VBP/relcl/0 red/JJ/acomp/2"))
    assert (reference.reference, reference.first, reference.last) == (12, 0, 0)
    assert {reference.text, reference.lemma} == {"@@12@@"}
    assert (reference.pos, reference.tag) == ("NOUN", "NNS")
    assert (that.head_lemma, that.ancestors) == ("be", {0, 2})
    assert (are.lemma, red.first, red.last, red.ancestors) == ("be", 3, 3, {0, 2})


def test_heads_that_go_round_in_a_circle_end():
    tokens = [Token(word, "NN", "NOUN", word, "", head) for word, head in (("a", 1), ("b", 2), ("c", 0))]
    assert [item.ancestors for item in document_of(tokens)] == [{0, 1, 2}] * 3


@pytest.mark.parametrize(
    ("text", "span", "allowed"),
    [
        # A single word is protected as a whole span only.
        ("highest @@1@@", (0, 0), False),
        ("highest mountains of @@1@@", (0, 1), True),
        # A phrase of two words must not be cut through.
        ("number of balls", (1, 2), False),
        ("number of balls", (0, 0), False),
        ("number of balls", (2, 2), True),
        ("number of balls", (0, 2), True),
        # A space at the end protects the border to the next word: "is " must not end a span.
        ("@@1@@ is red", (0, 1), False),
        ("red @@1@@ is", (1, 2), True),
        # A space at the beginning: " left " must not begin a span, unless there is nothing before it.
        ("balls left of @@1@@", (1, 3), False),
        ("left balls of @@1@@", (0, 1), True),
        # Only whole words count.
        ("balls touching @@1@@", (1, 2), True),
        # A span may end behind the last word.
        ("@@1@@ that sing", (1, 3), True),
        ("@@1@@ more", (1, 2), False),
    ],
)
def test_allow(text, span, allowed):
    assert ALL_PHRASES.allow(tuple(text.split()), span) is allowed
    assert NO_PHRASES.allow(tuple(text.split()), span)


def test_an_operators_own_phrases_do_not_count_also_where_others_share_them():
    texts = ("more", "@@1@@")
    assert "more" in PHRASES_OF_OPERATOR["AGGREGATE"]
    assert "more" in PHRASES_OF_OPERATOR["COMPARATIVE"]
    assert phrases_without("AGGREGATE").allow(texts, (0, 0))
    for other in ("BOOLEAN", "COMPARISON"):
        assert not phrases_without(other).allow(texts, (0, 0))
