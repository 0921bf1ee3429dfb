"""Steps annotated by hand, so that the rules can be tested without a parser.

A step is written ``#1 that/WDT are/VBP red/JJ``: word/tag, and if it matters /dependency/head, where the head is a
position. A word without a head is its own.
"""

from __future__ import annotations

from qdecomp.evaluation.metrics.annotation import (
    MissingAnnotationError,
    Remembered,
    Token,
    lemma_of,
    part_of_speech,
    step_key,
)
from qdecomp.evaluation.metrics.break_text import BreakText, parse_break_text

_NO_WORDS_KNOWN = {name: (frozenset(), {}) for name in ("noun", "verb", "adj", "adv")}


def tokens_of(step: str) -> tuple[Token, ...]:
    """The annotation that is written in a step."""
    return tuple(_token(place, *item.split("/")) for place, item in enumerate(step.split()))


def _token(place: int, word: str, tag: str = "", dep: str = "", head: str = "") -> Token:
    if word.startswith("#"):
        return Token("objects", "NNS", "NOUN", "object", "", place, int(word[1:]))
    lemma = lemma_of(word, tag, _NO_WORDS_KNOWN)
    return Token(word, tag, part_of_speech(word, tag), lemma, dep, int(head or place))


def plain(*steps: str) -> str:
    """The decomposition that the steps are, without the annotations."""
    return " ;".join("return " + " ".join(item.split("/")[0] for item in step.split()) for step in steps)


def text_of(*steps: str) -> BreakText:
    """The same as the official evaluator reads it."""
    return parse_break_text(plain(*steps))


def annotations(*steps: str) -> Remembered[tuple[Token, ...]]:
    """What is known of the words of these steps, and nothing else; an empty step is always known."""
    known = dict(zip(map(step_key, text_of(*steps).labels), map(tokens_of, steps), strict=True)) | {"": ()}

    def find(texts):
        if unknown := [text for text in texts if text not in known]:
            raise MissingAnnotationError(f"unknown: {unknown}")
        return [known[text] for text in texts]

    return Remembered(find)
