from __future__ import annotations

from qdecomp.evaluation.metrics.annotation import StepAnnotation, Token
from qdecomp.evaluation.metrics.norm_em.document import (
    ReferenceItem,
    Word,
    document_of,
    lemmas_of,
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
