"""What a generated plan must not do: rules that the beam search follows.

A rule looks at what has been generated so far and forbids some of the tokens that could come next: references, the
separator of steps, the end, and what would tear a name of the question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.qdmr import reference_number
from qdecomp.decoding.names import NamePlaces

_MOST_REMEMBERED = 20_000

TokenIds = npt.NDArray[np.int64]
"""Token ids of the vocabulary."""

RuleNames = bool | Sequence[str]
"""Which rules hold: all of them, none, or those that are named."""


class PlanProgress(NamedTuple):
    """What the rules need to know of a plan that is being generated."""

    step: int = 1
    """The number of the step that is being generated."""
    begins: bool = True
    """Whether nothing of that step has been generated yet."""
    used: int = 0
    """A bit for each step that has been referred to, by its number."""
    places: int = 0
    """Where in the names of its question the plan may be, see :class:`~qdecomp.decoding.names.NamePlaces`."""
    bound: bool = False
    """Whether a name has been begun that must be completed."""


@dataclass(frozen=True, slots=True)
class _Tokens:
    """The ids of the tokens that a rule may forbid; a small vocabulary may lack the separator, and has one step."""

    references: Mapping[int, int]
    """The number of each reference, by its id."""
    separator: int | None
    end: int
    count: int
    names: NamePlaces | None = None
    """The names of the question, if it has any."""


def _only_earlier_references(progress: PlanProgress, tokens: _Tokens) -> Iterable[int]:
    return (token for token, number in tokens.references.items() if number >= progress.step)


def _no_empty_steps(progress: PlanProgress, tokens: _Tokens) -> Iterable[int]:
    ends = (tokens.end,) if tokens.separator is None else (tokens.separator, tokens.end)
    return ends if progress.begins else ()


def _no_unused_steps(progress: PlanProgress, tokens: _Tokens) -> Iterable[int]:
    # A step that no token refers to can never be used.
    before = range(1, min(progress.step, 1 + max(tokens.references.values(), default=0)))
    return () if all(progress.used >> step & 1 for step in before) else (tokens.end,)


def _whole_names(progress: PlanProgress, tokens: _Tokens) -> Iterable[int]:
    names = tokens.names
    if names is None:
        return ()
    if not progress.bound:
        return names.misplaced(progress.places)
    allowed = names.next_places(progress.places)
    others = (word for word, places in names.of.items() if not places & allowed)
    return (*(token for token in range(tokens.count) if not names.of.get(token, 0) & allowed), *others)


PLAN_RULES: Mapping[str, Callable[[PlanProgress, _Tokens], Iterable[int]]] = MappingProxyType(
    {
        "only_earlier_references": _only_earlier_references,
        "no_empty_steps": _no_empty_steps,
        "no_unused_steps": _no_unused_steps,
        "whole_names": _whole_names,
    }
)
"""The rules by name: a step refers to earlier steps only, it has a word, the plan ends when every step but the last has
been referred to, and a name of the question is there with all of its words or not at all."""


class PlanRules:
    """The chosen rules for a vocabulary, whose tokens beyond its end are words of the question."""

    def __init__(self, tokens: Sequence[str], separator: str, end: str, names: RuleNames = True) -> None:
        chosen = PLAN_RULES if names is True else names or ()
        for name in chosen:
            if name not in PLAN_RULES:
                raise DataError(f"there is no plan rule {name!r}; choose from {', '.join(PLAN_RULES)}")
        self._rules = [rule for name, rule in PLAN_RULES.items() if name in chosen]
        ids = {token: number for number, token in enumerate(tokens)}
        references = {place: number for place, token in enumerate(tokens) if (number := reference_number(token))}
        self._tokens = _Tokens(references, ids.get(separator), ids[end], len(tokens))
        self._forbidden: dict[PlanProgress, TokenIds] = {}

    def with_names(self, names: NamePlaces | None) -> PlanRules:
        """The rules for a question with these names."""
        if names is None or _whole_names not in self._rules:
            return self
        found = copy(self)
        found._tokens, found._forbidden = replace(self._tokens, names=names), {}
        return found

    def after(self, progress: PlanProgress, token: int) -> PlanProgress:
        """The progress of a plan with one more token."""
        if token == self._tokens.separator:
            return PlanProgress(progress.step + 1, True, progress.used)
        number, names = self._tokens.references.get(token), self._tokens.names
        used = progress.used if number is None else progress.used | 1 << number
        if names is None:
            return PlanProgress(progress.step, False, used)
        return PlanProgress(progress.step, False, used, *names.after(progress.places, progress.bound, token))

    def forbidden(self, progress: PlanProgress) -> TokenIds:
        """The ids of the tokens that may not follow."""
        found = self._forbidden.get(progress)
        if found is None:
            forbidden = {token for rule in self._rules for token in rule(progress, self._tokens)}
            found = np.array(sorted(forbidden), dtype=np.int64)
            if len(self._forbidden) < _MOST_REMEMBERED:
                self._forbidden[progress] = found
        return found
