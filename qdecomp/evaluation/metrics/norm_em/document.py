"""The words of a step as the rewriting rules see them, and the phrases among them that must not be broken up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from qdecomp.evaluation.metrics.annotation import Token
from qdecomp.evaluation.metrics.break_text import mention


@dataclass(frozen=True, slots=True)
class Item:
    """A word of a step, or a reference to the node ``reference``, which counts as a noun.

    ``first`` and ``last`` are its positions in the parse of the whole step, even after the step was split; ``head`` and
    ``ancestors`` are such positions, too. ``tag`` is the Penn Treebank's, ``pos`` that of Universal Dependencies.
    """

    text: str
    tag: str
    pos: str
    lemma: str
    first: int
    last: int
    reference: int | None = None
    dep: str = ""
    head: int = -1
    head_lemma: str = ""
    ancestors: frozenset[int] = frozenset()


Document: TypeAlias = tuple[Item, ...]

Span: TypeAlias = tuple[int, int]
"""The positions of the first and the last item in a document."""


def reference_item(number: int, first: int, last: int) -> Item:
    """A reference to a node, with its positions in the parse."""
    return Item(mention(number), "NNS", "NOUN", mention(number), first, last, number)


def document_of(tokens: Sequence[Token]) -> Document:
    """The words of an annotated step, with references for the tokens that mask them."""
    return tuple(
        Item(
            *(token.text, token.tag, token.pos, token.lemma, position, position, None, token.dep, token.head),
            head_lemma=tokens[token.head].lemma,
            ancestors=_ancestors(tokens, position),
        )
        if token.reference is None
        else reference_item(token.reference, position, position)
        for position, token in enumerate(tokens)
    )


def _ancestors(tokens: Sequence[Token], position: int) -> frozenset[int]:
    found: set[int] = set()
    head = tokens[position].head
    while head != position and head not in found:
        found.add(head)
        position, head = head, tokens[head].head
    return frozenset(found)


def texts_of(document: Document) -> tuple[str, ...]:
    """The texts of the words and references."""
    return tuple(item.text for item in document)


# Phrases that mark operators. A space at the beginning or end of a phrase also protects the word on that side.
PHRASES_OF_OPERATOR: Mapping[str, tuple[str, ...]] = {
    "AGGREGATE": (
        *("number of ", "highest", "largest", "lowest", "smallest", "maximum", "minimum", "max", "min", "sum"),
        *("total", "average ", "avg ", "mean ", "most", "longest", "biggest", "more", "last", "longer", "higher"),
        *("larger", "least", "shortest", "less", "first", "shorter", "lower", "fewer", "smaller", "true ", "false "),
    ),
    "GROUP": ("for each ",),
    "COMPARATIVE": (
        *("same as ", "higher than ", "larger than ", "smaller than ", "lower than ", "more than ", "less than "),
        *("more", "less", "at least", "at most", "equal", "contain ", "include ", "has ", "have ", "end with "),
        *("start with ", "ends with ", "starts with ", "begin", "higher", "larger", "smaller", "lower", "not "),
        *("same as", "the same", "equal to ", "where "),
    ),
    "SUPERLATIVE": ("highest", "largest", "most", "smallest", "lowest", "least", "longest", "shortest", "biggest"),
    "UNION": (" and ", " or ", " , "),
    "INTERSECTION": ("both", " and ", "of both ", "in both ", "by both "),
    "DISCARD": ("besides ", "not in "),
    "SORT": ("sorted by ", "order by ", "ordered by "),
    "BOOLEAN": ("if ", "is ", "are ", " any"),
    "ARITHMETIC": ("sum", "difference", "multiplication", "division"),
    "FILTER": (
        *(" left ", " right ", " between ", " behind ", " in front ", " infront ", " touch", " reflect", " cover"),
        *(" obscur", " blocking", " blocked", " hidden", " obstruct", " near", " next", " next to ", " close "),
        *(" closer ", " closest ", " adjacent ", " that is ", " that are "),
    ),
}


_Phrase: TypeAlias = tuple[tuple[str, ...], bool, bool]
"""The words, and whether the phrase also protects the word on its left and the one on its right."""


class PhraseSet:
    """Phrases that must stay whole."""

    def __init__(self, phrases: Iterable[str]) -> None:
        self._phrases: list[_Phrase] = [
            (tuple(text.split()), text.startswith(" "), text.endswith(" ")) for text in sorted(phrases)
        ]

    def allow(self, texts: tuple[str, ...], span: Span) -> bool:
        """Whether the span may be cut out of the words without breaking up a phrase.

        >>> words = ("the", "number", "of", "cubes")
        >>> ALL_PHRASES.allow(words, (3, 3)), ALL_PHRASES.allow(words, (1, 1)), NO_PHRASES.allow(words, (1, 1))
        (True, False, True)
        """
        return not any(_is_torn(phrase, texts, span) for phrase in self.among(texts))

    def among(self, texts: tuple[str, ...]) -> Iterator[_Phrase]:
        """The phrases of which all words are in the text, in any order."""
        words = set(texts)
        return (phrase for phrase in self._phrases if phrase[0][0] in words and words.issuperset(phrase[0]))


def _is_torn(phrase: _Phrase, texts: tuple[str, ...], span: Span) -> bool:
    """Whether the span is the phrase, or one of its ends cuts through it or between it and a word that it protects."""
    words, guards_left, guards_right = phrase
    first, end = span[0], span[1] + 1
    rest = len(words) - 1
    left = texts[max(0, first - rest) : first + rest + (guards_left and first > 0)]
    right = texts[max(0, end - rest - (guards_right and end < len(texts))) : end + rest]
    return texts[first:end] == words or _occurs(words, left) or _occurs(words, right)


def _occurs(words: tuple[str, ...], texts: tuple[str, ...]) -> bool:
    return any(texts[start : start + len(words)] == words for start in range(len(texts) - len(words) + 1))


@cache
def phrases_without(operator: str) -> PhraseSet:
    """All phrases except those of one operator, even if another operator has the same ones."""
    own = PHRASES_OF_OPERATOR.get(operator, ())
    return PhraseSet({phrase for phrases in PHRASES_OF_OPERATOR.values() for phrase in phrases} - {*own})


ALL_PHRASES = phrases_without("")
NO_PHRASES = PhraseSet(())
