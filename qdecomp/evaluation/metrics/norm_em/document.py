"""The words of a step as the rewriting rules see them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from qdecomp.evaluation.metrics.annotation import StepAnnotation, Token
from qdecomp.evaluation.metrics.break_text import mention

__all__ = ["Document", "Item", "ReferenceItem", "Span", "Word", "document_of", "lemmas_of", "references_in", "texts_of"]


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
