from __future__ import annotations

import pytest

from qdecomp.evaluation.metrics.annotation import StepAnnotation, Token
from qdecomp.evaluation.metrics.norm_em.document import (
    ALL_PHRASES,
    NO_PHRASES,
    PHRASES_OF_OPERATOR,
    ReferenceItem,
    Word,
    document_of,
    lemmas_of,
    phrases_without,
    references_in,
    texts_of,
)
from tests.evaluation.metrics.norm_em.annotated import annotated, document


def test_masks_become_references_and_words_know_their_heads():
    reference, that, are, red = document("#12 that/WDT/nsubj/2 are/VBP/relcl/0 red/JJ/acomp/2")
    assert reference == ReferenceItem(12, first=0, last=0)
    assert isinstance(that, Word)
    assert (that.head_lemma, that.ancestors) == ("be", {0, 2})
    assert isinstance(red, Word)
    assert (are.lemma, red.position, red.ancestors) == ("be", 3, {0, 2})


def test_a_reference_counts_as_a_noun():
    assert [(item.text, item.lemma, item.pos, item.tag) for item in document("#3")] == [
        ("@@3@@", "@@3@@", "NOUN", "NNS")
    ]


def test_texts_lemmas_and_references():
    words = document("balls/NNS near/IN #2 and/CC #1 or/CC #2")
    assert texts_of(words) == ("balls", "near", "@@2@@", "and", "@@1@@", "or", "@@2@@")
    assert lemmas_of(words) == "ball near @@2@@ and @@1@@ or @@2@@"
    assert references_in(words) == (2, 1)
    assert lemmas_of(()) == ""


def test_heads_that_go_round_in_a_circle_end():
    tokens = tuple(Token(word, "NN", "NOUN", word, "", head) for word, head in (("a", 1), ("b", 2), ("c", 0)))
    assert [item.ancestors for item in document_of(StepAnnotation("a b c", tokens))] == [{0, 1, 2}] * 3


def test_there_is_one_item_for_each_token_at_its_place():
    reference, *words = document_of(annotated("#1 that/WDT are/VBP red/JJ"))
    assert (reference.number, reference.first, reference.last) == (1, 0, 0)
    assert [(word.text, word.tag, word.position) for word in words] == [
        ("that", "WDT", 1),
        ("are", "VBP", 2),
        ("red", "JJ", 3),
    ]
    assert document_of(annotated("")) == ()


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
