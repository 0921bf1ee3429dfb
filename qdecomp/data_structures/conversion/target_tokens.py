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

from qdecomp.data_structures.lexicon import property_phrases, stop_words
from qdecomp.data_structures.lexicon.inflections import variants
from qdecomp.data_structures.operators import OPERATORS
from qdecomp.data_structures.qdmr import Qdmr, Step, is_reference, order_by_references, reference_number, reference_to
from qdecomp.data_structures.tokenization import tokenize

STEP_SEPARATOR = ";"
"""The token between two steps."""

# Words that decide how a step is read, besides those of the lexicon; another form of them may be read differently.
_MARKERS = frozenset(
    word
    for line in (
        "by can contain contains discard do does each either every false for",
        "include includes no order ordered return sort sorted true",
    )
    for word in line.split()
)
# Annotators write words with these as the question does, in one piece; other signs and endings are separate.
_GLUE = frozenset("-./_&+*")
_STEP_PIECES = re.compile(r",|[^\s,]+")


def to_target_tokens(qdmr: Qdmr, question: str, *, copy_inflections: bool = False) -> tuple[str, ...]:
    """The sequence of tokens for a decomposition of a question.

    With ``copy_inflections``, a word that the question has in another form is written as the question has it
    (``cities`` as ``city``), unless it or that form decides what the step means. LF-EM does not see the difference,
    and there is less to learn.

    >>> from ..qdmr import parse_qdmr
    >>> qdmr = parse_qdmr("return cities ;return #1 in Japan's north")
    >>> " ".join(to_target_tokens(qdmr, "Which city is in Japan's north?"))
    "cities ; #1 in japan 's north"
    >>> " ".join(to_target_tokens(qdmr, "Which city is in Japan's north?", copy_inflections=True))
    "city ; #1 in japan 's north"
    """
    source = tuple(token.lower() for token in tokenize(question))
    with_commas = _tokens_with_commas(source)
    rows: list[str] = []
    for step in qdmr.steps:
        if rows:
            rows.append(STEP_SEPARATOR)
        for word in _join_commas([token.lower() for token in step.tokens], with_commas):
            rows.extend((word,) if is_reference(word) or word in with_commas else tokenize(word))
    if copy_inflections:
        rows = [_as_in_question(word, source) for word in rows]
    return tuple(rows)


def text_from_target_tokens(tokens: Iterable[str], question: str) -> str:
    """Break's text for a sequence of tokens; :func:`to_target_tokens` turns it into the same sequence again.

    >>> text_from_target_tokens("cities ; #1 in japan 's north".split(), "Which city is in Japan's north?")
    "return cities ;return #1 in Japan 's north"
    """
    spelling, glued = _spelling(tokenize(question)), _glued_pairs(question)
    steps: list[list[str]] = [[]]
    last = ""
    for token in tokens:
        if token == STEP_SEPARATOR:
            steps.append([])
        elif steps[-1] and (last, token) in glued:
            steps[-1][-1] += spelling.get(token, token)
        else:
            steps[-1].append(spelling.get(token, token))
        last = token
    return " ;".join(f"return {' '.join(step)}" for step in steps if step)


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

    Annotators order independent steps as they like, which says nothing and is hard to learn. Steps of one level keep
    their order, and the last step stays last.

    >>> from qdecomp.data_structures.qdmr import parse_qdmr
    >>> str(by_level(parse_qdmr("return cubes ;return number of #1 ;return balls ;return #2 , #3")))
    'return cubes ;return balls ;return number of #1 ;return #3 , #2'
    """
    references = {number: step.references for number, step in enumerate(qdmr.steps, start=1)}
    levels: dict[int, int] = {}
    for number in order_by_references(references):
        levels[number] = 1 + max((levels[target] for target in references[number]), default=0)
    order = sorted(levels, key=lambda number: (levels[number], number))
    if order[-1] != len(qdmr.steps):
        return qdmr
    places = {number: place for place, number in enumerate(order, start=1)}
    return Qdmr(tuple(_renumbered(qdmr.steps[number - 1], places) for number in order))


def _renumbered(step: Step, places: Mapping[int, int]) -> Step:
    numbers = ((token, reference_number(token)) for token in step.tokens)
    return Step(tuple(token if number is None else reference_to(places[number]) for token, number in numbers))


def _tokens_with_commas(source: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The question's tokens such as ``1,000``, which steps write in three tokens, with these."""
    pieces = {token: tuple(_STEP_PIECES.findall(token)) for token in source if "," in token}
    return {token: parts for token, parts in pieces.items() if len(parts) > 1}


def _join_commas(words: list[str], with_commas: dict[str, tuple[str, ...]]) -> list[str]:
    for token, parts in with_commas.items():
        for start in range(len(words) - len(parts), -1, -1):
            if tuple(words[start : start + len(parts)]) == parts:
                words[start : start + len(parts)] = [token]
    return words


@cache
def _words_with_meaning() -> frozenset[str]:
    phrases = (row.phrases for operator in OPERATORS for row in property_phrases(operator))
    return stop_words() | _MARKERS | {word for group in phrases for phrase in group for word in phrase}


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


def _glued_pairs(question: str) -> frozenset[tuple[str, str]]:
    """Neighbours that the question joins with a hyphen or the like, such as ``field`` and ``-``."""
    pairs = (pair for word in question.lower().split() for pair in pairwise(tokenize(word)))
    return frozenset(pair for pair in pairs if not _GLUE.isdisjoint(pair))
