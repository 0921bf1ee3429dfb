"""How the tokens of a node read as a phrase of a step.

Graphs hold no auxiliary words, so that parsers need not learn which of them an annotator wrote. Here those that are
next to a node's tokens in the question are put back ("from Denver"), and words that were split are joined again. None
of this matters to LF-EM.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from functools import cache
from itertools import pairwise

from qdecomp.data_structures.lexicon import property_phrases
from qdecomp.data_structures.operators import Operator
from qdecomp.data_structures.special_tokens import question_length

_ARTICLES = frozenset(("the", "a"))
_LINKS = frozenset(("of", "in", "on", "to", "from", "with"))
_FILLERS = _ARTICLES | _LINKS
_QUESTION_WORDS = frozenset(("when", "where", "who", "how", "what", "which", "why"))
_PREPOSITIONS = _LINKS | frozenset(("for", "by", "at", "about", "into", "through", "under", "over", "between", "after"))
_HYPHENS = frozenset("-–")
_QUOTES = frozenset("'\"‘“`")
# In a step, a comma is a separate token, "#" begins a reference and ";" ends the step.
_STEP_TOKEN = re.compile(r"[^,#;]+|[,#]")


def phrase_of(
    tokens: Sequence[str],
    positions: Sequence[int],
    operator: Operator,
    *,
    others: Set[int] = frozenset(),
    before_reference: bool = False,
) -> tuple[str, ...]:
    """The words of a step whose node holds these positions.

    ``others`` are the positions of other nodes; ``before_reference`` says that a reference follows the words.

    >>> phrase_of("flights from New York to Boston".split(), (2, 3), Operator.FILTER)
    ('from', 'New', 'York')
    >>> phrase_of("the names of students".split(), (1,), Operator.PROJECT)
    ('names', 'of')
    """
    if not positions:
        return ("of",) if operator is Operator.PROJECT else ()
    end = question_length(tokens)
    words = [*_before(tokens, positions, operator, others), _word(tokens, positions[0])]
    for left, right in pairwise(positions):
        between = tokens[left + 1 : right] if right < end else ()
        if len(between) == 1 and between[0] in _HYPHENS:
            words[-1] = f"{words[-1]}-{tokens[right]}"
            continue
        if all(token.lower() in _FILLERS for token in between):
            words.extend(between)
        words.append(_word(tokens, right))
    if before_reference or operator is Operator.PROJECT:
        words.extend(_after(tokens, positions[-1], words, operator))
    return tuple(piece for word in words for piece in _STEP_TOKEN.findall(word))


def _word(tokens: Sequence[str], position: int) -> str:
    """A token as it reads; a quoted article, as in the letter 'a', keeps its quote, or it would not count."""
    word = tokens[position]
    quoted = position > 0 and tokens[position - 1] in _QUOTES
    return f"'{word}" if quoted and word.lower() in _ARTICLES else word


def _before(tokens: Sequence[str], positions: Sequence[int], operator: Operator, others: Set[int]) -> Sequence[str]:
    """The preposition of a condition; in "to the left of the brown ball", that before "brown" belongs to the ball."""
    first = positions[0]
    if operator is not Operator.FILTER or positions[-1] + 1 in others:
        return ()
    start = first
    if start and tokens[start - 1].lower() in _ARTICLES:
        start -= 1
    if start and tokens[start - 1].lower() in _LINKS:
        return tokens[start - 1 : first]
    return ()


def _after(tokens: Sequence[str], last: int, words: Sequence[str], operator: Operator) -> Sequence[str]:
    """The preposition before a reference."""
    is_projection = operator is Operator.PROJECT
    if words[-1].lower() in _PREPOSITIONS:
        return ()
    if is_projection and words[-1].lower() in _aggregating_words():
        return ("in",)
    if last + 1 < question_length(tokens) and tokens[last + 1].lower() in _LINKS:
        return (tokens[last + 1],)
    return ("of",) if is_projection and words[0].lower() not in _QUESTION_WORDS else ()


@cache
def _aggregating_words() -> frozenset[str]:
    """Words that turn a step into an aggregate if only "of" is between them and a reference."""
    return frozenset(phrase[-1] for row in property_phrases(Operator.AGGREGATE) for phrase in row.phrases) - _LINKS
