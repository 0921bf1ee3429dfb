from __future__ import annotations

import pickle

import pytest

from qdecomp.evaluation.metrics import annotation as annotation_module
from qdecomp.evaluation.metrics.annotation import MissingAnnotationError, SpacyAnnotator, SpacyLemmas, step_key

pytestmark = pytest.mark.usefixtures("spacy_pipeline")


def test_references_are_masked_and_remembered():
    annotation = SpacyAnnotator().annotate("@@12@@ that are red")
    assert annotation.text == "@@12@@ that are red"
    assert annotation.references == ((0, 12),)
    assert annotation.masked
    assert [token.text for token in annotation.tokens][1:] == ["that", "are", "red"]
    assert annotation.tokens[0].tag == "NNS"


def test_parts_of_speech_and_lemmas_are_those_of_the_tables():
    _, that, are, red = SpacyAnnotator().annotate("@@1@@ that are red").tokens
    assert (that.tag, that.pos) == ("WDT", "DET")
    assert (are.lemma, red.pos) == ("be", "ADJ")
    assert that.head == 2


def test_the_word_object_is_a_noun():
    for step, tag, lemma in (("object left of @@1@@", "NN", "object"), ("objects to the left", "NNS", "object")):
        token = SpacyAnnotator().annotate(step).tokens[0]
        assert (token.tag, token.pos, token.lemma) == (tag, "NOUN", lemma)


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ("@@1@@, @@2@@", ["@@1@@", ",", "@@2@@"]),
        ("(@@1@@)", ["(", "@@1@@", ")"]),
        ("@@1@@'s color", ["@@1@@", "'s", "color"]),
        ("@@1@@@@2@@", ["@@1@@@@2@@"]),
        ("", []),
    ],
)
def test_tokens(step, words):
    annotation = SpacyAnnotator().annotate(step)
    references = dict(annotation.references)
    found = [
        f"@@{references[place]}@@" if place in references else token.text
        for place, token in enumerate(annotation.tokens)
    ]
    assert found == words


def test_where_masking_changes_the_tokens_the_plain_text_is_parsed():
    # The tokenizer makes "i" and "'m" of "i'm", and three tokens of these two with a space between them.
    annotation = SpacyAnnotator().annotate("@@1@@ that sing i'm here")
    assert not annotation.masked
    assert annotation.references == ((0, 1),)
    assert [token.text for token in annotation.tokens] == ["@@1@@", "that", "sing", "i", "'m", "here"]


def test_a_batch_and_single_steps_are_the_same():
    steps = ["red balls", "@@1@@ near @@2@@", "number of @@3@@"]
    batch = SpacyAnnotator()
    batch.prepare([*steps, *steps])
    single = SpacyAnnotator()
    assert [batch.annotate(step) for step in steps] == [single.annotate(step) for step in steps]


def test_half_of_a_character_is_no_crash():
    assert [token.text for token in SpacyAnnotator().annotate("red \ud800 balls").tokens] == ["red", "?", "balls"]
    assert SpacyLemmas()["\ud800 balls"] == ("?", "ball")


def test_key():
    assert step_key("  The  Red\tBalls ") == "the red balls"


def test_a_step_of_any_length_is_no_crash():
    huge = "ball " * 5000
    annotator = SpacyAnnotator()
    annotator.prepare([huge])
    with pytest.raises(MissingAnnotationError, match="too long"):
        annotator.annotate(huge)
    with pytest.raises(MissingAnnotationError, match="too long"):
        SpacyLemmas()[huge]


def test_an_annotator_travels_between_processes_with_what_it_knows(monkeypatch):
    annotator = SpacyAnnotator()
    wanted = annotator.annotate("red balls")
    copy = pickle.loads(pickle.dumps(annotator))
    monkeypatch.setattr(annotation_module, "_annotate", None)
    assert copy.annotate("red balls") == wanted


def test_lemmas_keep_a_space_at_the_beginning_and_references():
    lemmas = SpacyLemmas()
    assert lemmas[" @@1@@ that are red"] == (" ", "@@1@@", "that", "be", "red")
    assert lemmas[""] == ()
