"""The words of a step as the rewriting rules see them, and the phrases among them that must not be broken up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, TypeAlias

from qdecomp.evaluation.metrics.annotation import StepAnnotation, Token
from qdecomp.evaluation.metrics.break_text import mention


@dataclass(frozen=True, slots=True)
class Word(Token):
    """A token with more of its step's parse; positions are those in the parse, even after the step was split."""

    head_lemma: str
    position: int
    ancestors: frozenset[int]


@dataclass(frozen=True, slots=True)
class ReferenceItem:
    """A reference to a node, which stands for the positions from ``first`` to ``last`` of the parse."""

    pos: ClassVar[str] = "NOUN"
    tag: ClassVar[str] = "NNS"

    number: int
    first: int
    last: int

    @property
    def text(self) -> str:
        """The reference as it appears in a label."""
        return mention(self.number)

    @property
    def lemma(self) -> str:
        """The same as the text."""
        return mention(self.number)


Item: TypeAlias = Word | ReferenceItem
Document: TypeAlias = tuple[Item, ...]

Span: TypeAlias = tuple[int, int]
"""The first and the last place in a document, both included."""


def document_of(annotation: StepAnnotation) -> Document:
    """The words of an annotated step, and references where the masks are."""
    numbers = dict(annotation.references)
    return tuple(
        ReferenceItem(numbers[position], position, position)
        if position in numbers
        else _word(annotation.tokens, position, token)
        for position, token in enumerate(annotation.tokens)
    )


def _word(tokens: tuple[Token, ...], position: int, token: Token) -> Word:
    return Word(
        text=token.text,
        tag=token.tag,
        pos=token.pos,
        lemma=token.lemma,
        dep=token.dep,
        head=token.head,
        head_lemma=tokens[token.head].lemma,
        position=position,
        ancestors=_ancestors(tokens, position),
    )


def _ancestors(tokens: tuple[Token, ...], position: int) -> frozenset[int]:
    found: set[int] = set()
    head = tokens[position].head
    while head != position and head not in found:
        found.add(head)
        position, head = head, tokens[head].head
    return frozenset(found)


def references_in(document: Document) -> tuple[int, ...]:
    """The numbers of the nodes that a document refers to, each once, in order."""
    return tuple(dict.fromkeys(item.number for item in document if isinstance(item, ReferenceItem)))


def texts_of(document: Document) -> tuple[str, ...]:
    """The texts of the words and references."""
    return tuple(item.text for item in document)


def lemmas_of(document: Document) -> str:
    """The lemmas with single spaces between them: what remains of a step that is not an operator call."""
    return " ".join(item.lemma for item in document)


# Phrases that mark operators. A space at the beginning or end of a phrase protects its neighbour on that side too.
PHRASES_OF_OPERATOR: dict[str, tuple[str, ...]] = {
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
    "SUPERLATIVE": (*("highest", "largest", "most", "smallest", "lowest", "least", "longest", "shortest", "biggest"),),
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


@dataclass(frozen=True, slots=True)
class _Phrase:
    words: tuple[str, ...]
    guards_left: bool
    guards_right: bool

    def is_torn(self, texts: Sequence[str], span: Span) -> bool:
        """Whether cutting out the span would take the phrase alone, or cut through it or its protected side."""
        first, last = span
        if tuple(texts[first : last + 1]) == self.words:
            return True
        rest = len(self.words) - 1
        left_end = first + rest + (self.guards_left and first > 0)
        right_start = last + 1 - rest - (self.guards_right and last + 1 < len(texts))
        return self._occurs(texts[max(0, first - rest) : left_end]) or self._occurs(
            texts[max(0, right_start) : last + 1 + rest]
        )

    def _occurs(self, texts: Sequence[str]) -> bool:
        size = len(self.words)
        return any(tuple(texts[start : start + size]) == self.words for start in range(len(texts) - size + 1))


class PhraseSet:
    """Phrases that must stay whole."""

    def __init__(self, phrases: frozenset[str]) -> None:
        self._by_first_word: dict[str, list[_Phrase]] = {}
        for text in sorted(phrases):
            phrase = _Phrase(tuple(text.split()), text.startswith(" "), text.endswith(" "))
            self._by_first_word.setdefault(phrase.words[0], []).append(phrase)

    def allow(self, texts: Sequence[str], span: Span) -> bool:
        """Whether the span may be cut out of the words without breaking up a phrase.

        >>> words = ("the", "number", "of", "cubes")
        >>> ALL_PHRASES.allow(words, (3, 3)), ALL_PHRASES.allow(words, (1, 1)), NO_PHRASES.allow(words, (1, 1))
        (True, False, True)
        """
        return not any(phrase.is_torn(texts, span) for phrase in self._in(texts))

    def concern(self, texts: Sequence[str]) -> bool:
        """Whether there is any phrase among the words."""
        return next(self._in(texts), None) is not None

    def _in(self, texts: Sequence[str]) -> Iterator[_Phrase]:
        words = set(texts)
        for text in words & self._by_first_word.keys():
            for phrase in self._by_first_word[text]:
                if words.issuperset(phrase.words):
                    yield phrase


def _phrases_of(operators: Iterator[str]) -> frozenset[str]:
    return frozenset(phrase for operator in operators for phrase in PHRASES_OF_OPERATOR.get(operator, ()))


ALL_PHRASES = PhraseSet(_phrases_of(iter(PHRASES_OF_OPERATOR)))
NO_PHRASES = PhraseSet(frozenset())


@cache
def phrases_without(operator: str) -> PhraseSet:
    """All phrases except those of one operator, even if another operator has the same ones."""
    return PhraseSet(_phrases_of(iter(PHRASES_OF_OPERATOR)) - _phrases_of(iter([operator])))
