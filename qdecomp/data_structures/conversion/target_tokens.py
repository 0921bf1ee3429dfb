"""What a decoder learns to write: a decomposition as one sequence of tokens, and how it becomes Break's text again.

The sequence has the words of the steps in lower case, with ``;`` between steps and without ``return``, which says
nothing. Words are split as in the question, so that they can be copied from it: ``japan 's`` for ``Japan's``. On the
way back, words get the question's capitals and hyphens.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise

from qdecomp.data_structures.lexicon import property_words, stop_words
from qdecomp.data_structures.lexicon.inflections import variants
from qdecomp.data_structures.operators import OPERATORS
from qdecomp.data_structures.qdmr import Qdmr, is_reference, levels_of
from qdecomp.data_structures.tokenization import tokenize

STEP_SEPARATOR = ";"  # the token between two steps
# Words that decide how a step is read, besides those of the lexicon; another form of them may be read differently.
_MARKERS = frozenset(
    (
        *("by", "can", "contain", "contains", "discard", "do", "does", "each", "either", "every", "false", "for"),
        *("include", "includes", "no", "order", "ordered", "return", "sort", "sorted", "true"),
    )
)
# Words with these are written as in the question, in one piece; other signs and endings are separate. In Break,
# "'s" is separate, too, which only EM can tell apart.
_GLUE = frozenset(("'s", "’s", *"-./_&+*@'’"))
_STEP_PIECES = re.compile(r",|[^\s,]+")


def to_target_tokens(qdmr: Qdmr, question: str, *, copy_inflections: bool = False) -> tuple[str, ...]:
    """The sequence of tokens for a decomposition of a question.

    With ``copy_inflections``, a word that the question has in another form is written as the question has it
    (``cities`` as ``city``), unless it or that form decides what the step means; there is less to learn.
    """
    source = tuple(token.lower() for token in tokenize(question))
    # The question's tokens such as "1,000", which steps write in three tokens.
    pieces = {token: tuple(_STEP_PIECES.findall(token)) for token in source if "," in token}
    with_commas = {token: parts for token, parts in pieces.items() if len(parts) > 1}
    tokens: list[str] = []
    for step in qdmr.steps:
        tokens += [STEP_SEPARATOR] if tokens else []
        for word in _join_commas([token.lower() for token in step.tokens], with_commas):
            tokens.extend((word,) if is_reference(word) or word in with_commas else tokenize(word))
    return tuple([_as_in_question(word, source) for word in tokens] if copy_inflections else tokens)


def text_from_target_tokens(tokens: Iterable[str], question: str) -> str:
    """Break's text for a sequence of tokens; :func:`to_target_tokens` turns it into the same sequence again."""
    spelling = _spelling(tokenize(question))
    # Neighbours that the question joins with a hyphen or the like, such as "field" and "-".
    pairs = (pair for word in question.lower().split() for pair in pairwise(tokenize(word)))
    glued = {pair for pair in pairs if not _GLUE.isdisjoint(pair)}
    steps: list[str] = [""]
    last = ""
    for token in tokens:
        if token == STEP_SEPARATOR:
            steps.append("")
        else:
            space = "" if not steps[-1] or (last, token) in glued else " "
            steps[-1] += space + spelling.get(token, token)
        last = token
    return " ;".join(f"return {step}" for step in steps if step)


def copied_ids(words: Sequence[str], known: Mapping[str, int], first: int) -> list[int]:
    """The ids of a question's words: the vocabulary's, or for unknown words ``first`` plus their first position.

    >>> copied_ids(("a", "rat", "of", "a", "rat"), {"of": 3}, 100)
    [100, 101, 3, 100, 101]
    """
    own: dict[str, int] = {}
    for position, word in enumerate(words):
        own.setdefault(word, known.get(word, first + position))
    return [own[word] for word in words]


def by_level(qdmr: Qdmr) -> Qdmr:
    """The decomposition with its steps in one fixed order: what needs no other step first, then what needs only those.

    Annotators order them as they like, which is hard to learn. Steps of one level keep their order, the last its place.
    """
    references = {number: step.references for number, step in enumerate(qdmr.steps, start=1)}
    levels = levels_of(references)
    order = sorted(levels, key=lambda number: (levels[number], number))
    if order[-1] != len(qdmr.steps):
        return qdmr
    places = {number: place for place, number in enumerate(order, start=1)}
    return Qdmr(tuple(qdmr.steps[number - 1].renumbered(places) for number in order))


def _join_commas(words: list[str], with_commas: dict[str, tuple[str, ...]]) -> list[str]:
    for token, parts in with_commas.items():
        for start in range(len(words) - len(parts), -1, -1):
            if tuple(words[start : start + len(parts)]) == parts:
                words[start : start + len(parts)] = [token]
    return words


@cache
def _words_with_meaning() -> frozenset[str]:
    return frozenset(stop_words() | _MARKERS).union(*map(property_words, OPERATORS))


def _as_in_question(word: str, source: Sequence[str]) -> str:
    if word in source or word in _words_with_meaning() or is_reference(word):
        return word
    forms = variants(word)
    candidates = (token for token in source if token in forms or word in variants(token))
    return next((token for token in candidates if token not in _words_with_meaning()), word)


def _spelling(tokens: Sequence[str]) -> dict[str, str]:
    """How the question writes its words; a capital that only begins the sentence does not count."""
    spelling = {token.lower(): token for token in reversed(tokens)}
    if tokens and spelling[tokens[0].lower()] == tokens[0] and tokens[0].istitle():
        later = [token for token in tokens[1:] if token.lower() == tokens[0].lower()]
        begins_name = len(tokens) > 1 and tokens[1][:1].isupper() and tokens[0].lower() not in stop_words()
        if later or not begins_name:
            spelling[tokens[0].lower()] = later[0] if later else tokens[0].lower()
    return spelling
