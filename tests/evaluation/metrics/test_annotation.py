from __future__ import annotations

import pytest

from qdecomp.evaluation.metrics.annotation import (
    MissingAnnotationError,
    Remembered,
    Token,
    annotate,
    lemma_of,
    lemmas,
    part_of_speech,
    step_key,
)

needs_spacy = pytest.mark.usefixtures("spacy_pipeline")


def annotated(step: str) -> tuple[Token, ...]:
    return next(annotate([step]))


@needs_spacy
def test_references_are_masked_and_remembered():
    mask, that, are, red = annotated("@@12@@ that are red")
    assert (mask.reference, mask.tag) == (12, "NNS")
    # Parts of speech and lemmas are those of the tables.
    assert (that.text, that.tag, that.pos, that.head) == ("that", "WDT", "DET", 2)
    assert (are.lemma, red.pos, red.reference) == ("be", "ADJ", None)


@needs_spacy
@pytest.mark.parametrize(
    ("step", "tag", "lemma"),
    [("object left of @@1@@", "NN", "object"), ("objects to the left", "NNS", "object")],
)
def test_the_word_object_is_a_noun(step, tag, lemma):
    token = annotated(step)[0]
    assert (token.tag, token.pos, token.lemma) == (tag, "NOUN", lemma)


@needs_spacy
@pytest.mark.parametrize(
    ("step", "words"),
    [
        ("@@1@@, @@2@@", ["@@1@@", ",", "@@2@@"]),
        ("(@@1@@)", ["(", "@@1@@", ")"]),
        ("@@1@@'s color", ["@@1@@", "'s", "color"]),
        ("@@1@@@@2@@", ["@@1@@@@2@@"]),
        ("", []),
        # The tokenizer makes "i" and "'m" of "i'm", and three tokens of these two with a space between them: where
        # masking changes the tokens, the plain text is parsed.
        ("@@1@@ that sing i'm here", ["@@1@@", "that", "sing", "i", "'m", "here"]),
        # Half of a character is no crash.
        ("red \ud800 balls", ["red", "?", "balls"]),
    ],
)
def test_tokens(step, words):
    assert [f"@@{each.reference}@@" if each.reference else each.text for each in annotated(step)] == words


@needs_spacy
def test_lemmas_keep_a_space_at_the_beginning_and_references():
    assert [*lemmas([" @@1@@ that are red", ""])] == [(" ", "@@1@@", "that", "be", "red"), ()]


@needs_spacy
@pytest.mark.parametrize("find", [annotate, lemmas])
def test_a_batch_and_single_steps_are_the_same_and_one_too_long_is_an_error(find):
    steps = ["red balls", "@@1@@ near @@2@@", "number of @@3@@"]
    huge = "ball " * 5000
    batch, single = Remembered(find), Remembered(find)
    batch.prepare([*steps, *steps, huge])
    assert [batch[step] for step in steps] == [single[step] for step in steps]
    with pytest.raises(MissingAnnotationError, match="too long"):
        batch[huge]


def test_key():
    assert step_key("  The  Red\tBalls ") == "the red balls"


def _rows(text: str) -> list[list[str]]:
    """Rows of a table that are written ``word/tag/result``."""
    return [row.split("/") for row in text.split()]


@pytest.mark.parametrize(
    ("word", "tag", "part"),
    _rows(
        "that/WDT/DET that/IN/SCONJ That/IN/SCONJ THAT/IN/ADP in/IN/ADP to/TO/PART nobody/NN/PRON is/VBZ/AUX "
        "is/VB/VERB can/MD/VERB has/VBZ/AUX its/PRP$/DET denver/NNP/PROPN ``/``/PUNCT x/unknown/X"
    ),
)
def test_part_of_speech(word, tag, part):
    assert part_of_speech(word, tag) == part


_TABLES = {
    "noun": (["leaf", "leave", "vase", "vas", "datum"], {"data": ("datum",), "oxen": ("ox",)}),
    "verb": (["ride", "rid", "stripe", "strip"], {"left": ("leave",), "might": ("may",), "lay": ("lie", "lain")}),
    "adj": (["large"], {}),
    "adv": (["well"], {"better": ("well",)}),
}


@pytest.mark.parametrize(
    ("word", "tag", "lemma"),
    _rows(
        "are/VBP/be is/VBP/is had/VBD/have their/PRP$/-PRON- i/PRP/i balls/NNS/ball balls/NNPS/balls Balls/NNS/ball "
        "leaves/NNS/leave vases/NNS/vase data/NNS/datum s/NNS/s riding/VBG/ride striped/VBN/stripe left/VBN/leave "
        'left/JJ/left might/MD/may larger/JJR/large better/RBR/well sooner/RBR/sooner “/``/" 2,000s/NNS/2,000 '
        # Of two irregular lemmas the last one counts.
        "lay/VBD/lain"
    ),
)
def test_lemma(word, tag, lemma):
    assert lemma_of(word, tag, _TABLES) == lemma
