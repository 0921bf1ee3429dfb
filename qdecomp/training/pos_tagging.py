"""Part-of-speech tags of a question's own tokens, by spaCy."""

from __future__ import annotations

from collections.abc import Sequence

from qdecomp.training.pretrained import load_spacy

__all__ = ["pos_tags"]

# Only the tagger and what it depends on are needed.
_NOT_NEEDED = ("parser", "ner", "lemmatizer")


def pos_tags(words: Sequence[str]) -> tuple[str, ...]:
    """The universal part of speech of each word, such as ``NOUN``.

    >>> pos_tags(("How", "many", "cubes"))[-1]
    'NOUN'
    """
    from spacy.tokens import Doc

    pipeline = load_spacy(disable=_NOT_NEEDED)
    return tuple(token.pos_ for token in pipeline(Doc(pipeline.vocab, words=list(words))))
