from __future__ import annotations

import pytest

from qdecomp.evaluation.metrics.norm_em.marker_phrases import (
    ALL_PHRASES,
    NO_PHRASES,
    PHRASES_OF_OPERATOR,
    phrases_without,
)


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
    ],
)
def test_allow(text, span, allowed):
    assert ALL_PHRASES.allow(text.split(), span) is allowed
    assert NO_PHRASES.allow(text.split(), span)


def test_a_span_may_end_behind_the_last_word():
    assert ALL_PHRASES.allow(("@@1@@", "that", "sing"), (1, 3))
    assert not ALL_PHRASES.allow(("@@1@@", "more"), (1, 2))


def test_an_operators_own_phrases_do_not_count_also_where_others_share_them():
    texts = ("more", "@@1@@")
    assert "more" in PHRASES_OF_OPERATOR["AGGREGATE"]
    assert "more" in PHRASES_OF_OPERATOR["COMPARATIVE"]
    assert phrases_without("AGGREGATE").allow(texts, (0, 0))
    assert not phrases_without("BOOLEAN").allow(texts, (0, 0))


def test_an_operator_without_phrases_takes_none_away():
    assert not phrases_without("COMPARISON").allow(("more", "@@1@@"), (0, 0))


def test_every_phrase_protects_itself():
    for phrase in {phrase for phrases in PHRASES_OF_OPERATOR.values() for phrase in phrases}:
        words = ["x", *phrase.split(), "y"]
        assert not ALL_PHRASES.allow(words, (1, len(words) - 2)), phrase
