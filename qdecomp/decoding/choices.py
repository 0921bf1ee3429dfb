"""What a decoder chooses from: a label for a pair of tokens, if the kinds of the two tokens allow it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from qdecomp.data_structures.edge_tags import DUPLICATE, SPAN, STRUCTURAL_TAGS, EdgeTag, parse_tag, split_tags
from qdecomp.data_structures.errors import GraphError
from qdecomp.data_structures.limits import cache_short
from qdecomp.data_structures.special_tokens import DUMMY, DUPLICATE_TOKEN, SEPARATOR, question_length, words_end


class TokenKind(IntEnum):
    """What a token may stand for in a graph."""

    WORD = 0
    SEPARATOR = 1
    DUPLICATE = 2
    DUMMY = 3


_KINDS = {SEPARATOR: TokenKind.SEPARATOR, DUPLICATE_TOKEN: TokenKind.DUPLICATE, DUMMY: TokenKind.DUMMY}


@dataclass(frozen=True, slots=True)
class EdgeChoice:
    """One label for one pair of tokens; ``gain`` says how much better it is than no edge (in nats)."""

    head: int
    dependent: int
    label: str
    gain: float = field(default=0.0, compare=False)


def token_kinds(tokens: Sequence[str]) -> tuple[TokenKind, ...]:
    """The kind of each token; after the question, it is the special token's own."""
    length, end = question_length(tokens), words_end(tokens)
    special = range(length, len(tokens))
    return tuple(
        _KINDS[token] if position in special and (position == length or position >= end) else TokenKind.WORD
        for position, token in enumerate(tokens)
    )


@cache_short(entries=4096, longest=300)
def read_label(label: str) -> tuple[EdgeTag | str, ...] | None:
    """The tags that a label stands for (the structural ones as text), or None if it is not a label of edges.

    >>> read_label("duplicate&filter-sub")
    ('duplicate', EdgeTag(operator=<Operator.FILTER: 'filter'>, argument='sub', properties=()))
    """
    try:
        return tuple(tag if tag in STRUCTURAL_TAGS else parse_tag(tag) for tag in split_tags(label))
    except GraphError:
        return None


def is_possible(head: TokenKind, dependent: TokenKind, rightwards: bool, label: str) -> bool:
    """Whether an edge between two different tokens of these kinds may have the label.

    >>> is_possible(TokenKind.WORD, TokenKind.WORD, False, "span")
    False
    """
    tags = read_label(label)
    if tags is None or TokenKind.SEPARATOR in (head, dependent):
        return False
    if SPAN in tags and (len(tags) > 1 or not rightwards):
        return False
    return DUPLICATE not in tags or (head is TokenKind.DUPLICATE and dependent is TokenKind.WORD)
