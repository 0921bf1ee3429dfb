"""Which tokens each step may be aligned with: the candidates of the alignment program.

A step's *content* is what its logical form says beyond operator and property: every word that is neither an auxiliary
word nor a property word. Each class of equivalent words in it needs a token. A step without content needs no token, but
should have an *anchor*: a word that shows its operator (see :mod:`~qdecomp.data_structures.lexicon`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from qdecomp.data_structures.lexicon import anchor_words, property_anchors, removed_words, stop_words
from qdecomp.data_structures.lexicon.equivalence import representatives
from qdecomp.data_structures.lexicon.inflections import variants
from qdecomp.data_structures.logical_form import LogicalForm, LogicalStep
from qdecomp.data_structures.operators import OPERATORS
from qdecomp.data_structures.qdmr import is_reference
from qdecomp.data_structures.special_tokens import question_length

# How many tokens may be between neighbours.
_WIDEST_GAP = 8
# If a question repeats a word more often than this, the other occurrences are not worth considering.
_MOST_CANDIDATES = 50
_SPLIT = re.compile(r"\W+")
# Auxiliary words that say so little that they cannot even represent a step.
_EMPTY_WORDS = frozenset(("the", "a", "is", "are", "was", "were", "be", "did", "and", ","))


@dataclass(frozen=True, slots=True)
class StepCandidates:
    """What one step may be aligned with."""

    needs: tuple[tuple[int, ...], ...]  # for each class of content words, positions of which one must be taken
    anchors: tuple[int, ...]  # positions of which a step without needs may take one
    shows_property: frozenset[int]  # those anchors that show a property and not only the operator
    exact: frozenset[int]  # positions whose token is a word of the step itself
    references: tuple[int, ...]  # steps referred to, from 0
    missing: tuple[str, ...]  # content words that no token is equivalent to


@dataclass(frozen=True, slots=True)
class AlignmentProblem:
    """The steps with their candidates, and pairs of tokens with only a few auxiliary words and punctuation between."""

    steps: tuple[StepCandidates, ...]
    neighbours: tuple[tuple[int, int], ...]


def make_problem(form: LogicalForm, tokens: Sequence[str]) -> AlignmentProblem:
    """Find the candidates of every step among the question's tokens and the resource words after them."""
    length = question_length(tokens)
    vocabulary = _Vocabulary(tokens, length)
    steps = tuple(vocabulary.candidates(step) for step in form.steps)
    return AlignmentProblem(steps, tuple(_neighbours(tokens[:length], steps)))


def content_words(step: LogicalStep) -> tuple[str, ...]:
    """The words of a step that need a token, lower-cased and split at every character that is not part of a word."""
    auxiliary = removed_words(step.operator, step.properties, strict=True)
    pieces = (piece for word in _words(step) if word not in auxiliary for piece in _SPLIT.split(word))
    return tuple(dict.fromkeys(piece for piece in pieces if piece))


def _words(step: LogicalStep) -> list[str]:
    """The words of a step, which all go to one argument: where bare words count, those next to a reference do not."""
    arguments = step.arguments
    if OPERATORS[step.operator].prefers_bare_words:
        arguments = tuple(argument for argument in arguments if not argument.references) or arguments
    return [token.lower() for argument in arguments for token in argument.tokens if not is_reference(token)]


class _Vocabulary:
    """The tokens of a question by word and by class of equivalent words, and the resource words after them."""

    def __init__(self, tokens: Sequence[str], length: int) -> None:
        self.lower = [token.lower() for token in tokens]
        self._resources = range(length + 1, len(tokens))
        self._representatives: Mapping[str, str] = representatives(" ".join(tokens[:length]))
        self.classes = [frozenset(self._class_of(p) for p in _SPLIT.split(word) if p) for word in self.lower]
        self.by_class: dict[str, list[int]] = {}
        self.by_word: dict[str, list[int]] = {}
        for position in range(length):
            for name in self.classes[position]:
                self.by_class.setdefault(name, []).append(position)
            self.by_word.setdefault(self.lower[position], []).append(position)

    def _class_of(self, word: str) -> str:
        return self._representatives.get(word, word)

    def candidates(self, step: LogicalStep) -> StepCandidates:
        words = content_words(step)
        of_step = frozenset(map(self._class_of, words))
        auxiliary = removed_words(step.operator, step.properties, strict=True)
        needs = {self._class_of(word): self._positions(word, of_step, auxiliary) for word in words}
        self._keep_phrases_together(needs)
        missing = [word for word in words if not needs[self._class_of(word)]]
        found = tuple(positions for positions in needs.values() if positions)
        own = frozenset(words).union(_words(step))
        anchors, shows_property = self._anchors(step, bool(found))
        exact = frozenset(p for positions in (*found, anchors) for p in positions if self.lower[p] in own)
        references = tuple(dict.fromkeys(number - 1 for number in step.references))
        return StepCandidates(found, anchors, frozenset(shows_property), exact, references, tuple(missing))

    def _positions(self, word: str, of_step: frozenset[str], auxiliary: frozenset[str]) -> tuple[int, ...]:
        """The question's tokens of a word's class, or else the resource word that fits best.

        A token of several words, such as "1,000", stands for all of them, so it should not say more than the step does;
        a token that is an auxiliary word would not count as content.
        """
        positions = tuple(self.by_class.get(self._class_of(word), ()))
        clean = tuple(p for p in positions if self.classes[p] <= of_step and self.lower[p] not in auxiliary)
        if positions:
            return (clean or positions)[:_MOST_CANDIDATES]
        return (
            self._resource(self._class_of(word))
            or tuple(p for p in self._resources if self.lower[p] in variants(word))[:1]
        )

    def _resource(self, name: str) -> tuple[int, ...]:
        return tuple(position for position in self._resources if name in self.classes[position])[:1]

    def _keep_phrases_together(self, needs: dict[str, tuple[int, ...]]) -> None:
        """If one of two neighbouring words, such as "at least", is a resource word, so is the other, if it can be."""
        for names in (list(needs), list(needs)[::-1]):
            for neighbour, name in pairwise(names):
                if self._are_resources(needs[neighbour]) and not self._are_resources(needs[name]):
                    needs[name] = self._resource(name) or needs[name]

    def _are_resources(self, positions: tuple[int, ...]) -> bool:
        return bool(positions) and positions[0] in self._resources

    def _anchors(self, step: LogicalStep, has_content: bool) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The positions of the anchors, and of those among them that show more than the operator.

        For a step with content, these are words such as "distinct" that it should keep beside its content.
        """
        own = frozenset(_words(step))
        if has_content:
            shows_property = self._places(OPERATORS[step.operator].useful_words & own)
            return shows_property, shows_property
        words = property_anchors(step.operator, step.properties) | (own - _EMPTY_WORDS)
        return self._places(words | anchor_words(step.operator, step.properties)), self._places(words)

    def _places(self, words: Iterable[str]) -> tuple[int, ...]:
        places = sorted(position for word in words for position in self.by_word.get(word, ()))
        return tuple(places[:_MOST_CANDIDATES])


def _neighbours(question: Sequence[str], steps: Sequence[StepCandidates]) -> list[tuple[int, int]]:
    wanted = {p for step in steps for positions in (*step.needs, step.anchors) for p in positions}
    pairs = []
    for left in sorted(wanted):
        for right in range(left + 1, min(left + 2 + _WIDEST_GAP, len(question))):
            if right in wanted:
                pairs.append((left, right))
            if question[right].lower() not in stop_words() and any(map(str.isalnum, question[right])):
                break
    return pairs
