"""What a plan that is written token by token must not do: rules for every search, in torch and in NumPy.

A rule looks at the tokens written so far and forbids some of those that could come next: references, the
separator of steps, and the end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.qdmr import reference_number

__all__ = ["PLAN_RULES", "PlanProgress", "PlanRules", "RuleNames", "TokenIds"]

_MOST_REMEMBERED = 20_000

TokenIds = npt.NDArray[np.int64]
"""Token ids of the vocabulary."""

Flags = npt.NDArray[np.bool_]

RuleNames = bool | Sequence[str]
"""Which rules hold: all of them, none, or those that are named."""


@dataclass(frozen=True, slots=True)
class _Written:
    """What rules need to know about each row of tokens; the last axis of ``forbidden`` is the tokens to forbid."""

    step: TokenIds
    """The number of the step that is being written."""
    begins: Flags
    """Whether nothing of that step has been written yet."""
    used: Flags
    """(rows, steps), whether each step has been referred to."""
    references: TokenIds
    """The numbers of all references that there are, in the order of the first columns of ``forbidden``."""
    forbidden: Flags
    """(rows, references and separator and end)."""


def _only_earlier_references(written: _Written) -> None:
    count = len(written.references)
    written.forbidden[:, :count] |= written.references >= written.step[:, None]


def _no_empty_steps(written: _Written) -> None:
    written.forbidden[:, -2:] |= written.begins[:, None]


def _no_unused_steps(written: _Written) -> None:
    before = np.arange(1, written.used.shape[1] + 1) < written.step[:, None]
    written.forbidden[:, -1] |= (before & ~written.used).any(axis=1)


PLAN_RULES: Mapping[str, Callable[[_Written], None]] = MappingProxyType(
    {
        "only_earlier_references": _only_earlier_references,
        "no_empty_steps": _no_empty_steps,
        "no_unused_steps": _no_unused_steps,
    }
)
"""The rules by name: a step refers to earlier steps only, it has a word, and the plan ends when every step but the
last has been referred to."""


class PlanProgress(NamedTuple):
    """What the rules need to know of a plan that is being written."""

    step: int = 1
    begins: bool = True
    used: int = 0
    """A bit for each step that has been referred to, by its number."""


class PlanRules:
    """The chosen rules for a vocabulary, whose tokens beyond its end are words of the question."""

    def __init__(self, tokens: Sequence[str], separator: str, end: str, names: RuleNames = True) -> None:
        chosen = PLAN_RULES if names is True else names or ()
        for name in chosen:
            if name not in PLAN_RULES:
                raise DataError(f"there is no plan rule {name!r}; choose from {', '.join(PLAN_RULES)}")
        self._rules = [rule for name, rule in PLAN_RULES.items() if name in chosen]
        ids = {token: number for number, token in enumerate(tokens)}
        # A small vocabulary may lack the separator: then there is one step, and the end token stands for both.
        self._separator = ids.get(separator, -1)
        # Words of the question are not references: all of their ids come after the vocabulary's.
        numbers = [reference_number(token) or 0 for token in tokens]
        self._numbers = np.array([*numbers, 0], dtype=np.int64)
        places = [place for place, number in enumerate(numbers) if number]
        self._references = self._numbers[places]
        self.tokens: TokenIds = np.array([*places, ids.get(separator, ids[end]), ids[end]], dtype=np.int64)
        """The ids of the tokens that a rule may forbid."""
        self._reference_numbers = {place: numbers[place] for place in places}
        self._forbidden_ids: dict[PlanProgress, TokenIds] = {}

    def __bool__(self) -> bool:
        """Whether there is any rule."""
        return bool(self._rules)

    def forbidden(self, rows: TokenIds) -> Flags:
        """Which of :attr:`tokens` may not follow each row of ids (rows, written); a row begins with the start token."""
        separators = rows == self._separator
        begins = separators[:, -1] | (rows.shape[1] == 1)
        return self._forbidden(separators.sum(axis=1) + 1, begins, self._used(rows))

    def after(self, progress: PlanProgress, token: int) -> PlanProgress:
        """The progress of a plan with one more token."""
        if token == self._separator:
            return PlanProgress(progress.step + 1, True, progress.used)
        number = self._reference_numbers.get(token)
        return PlanProgress(progress.step, False, progress.used if number is None else progress.used | 1 << number)

    def forbidden_ids(self, progress: PlanProgress) -> TokenIds:
        """The ids of the tokens that may not follow."""
        found = self._forbidden_ids.get(progress)
        if found is None:
            steps = range(1, int(self._references.max(initial=0)) + 1)
            used = np.array([[bool(progress.used >> step & 1) for step in steps]], dtype=np.bool_)
            (flags,) = self._forbidden(np.array([progress.step]), np.array([progress.begins]), used)
            found = self.tokens[flags]
            if len(self._forbidden_ids) < _MOST_REMEMBERED:
                self._forbidden_ids[progress] = found
        return found

    def _forbidden(self, step: TokenIds, begins: Flags, used: Flags) -> Flags:
        forbidden = np.zeros((len(step), len(self.tokens)), dtype=np.bool_)
        found = _Written(step, begins, used, self._references, forbidden)
        for rule in self._rules:
            rule(found)
        return forbidden

    def _used(self, rows: TokenIds) -> Flags:
        numbers = self._numbers[np.minimum(rows, len(self._numbers) - 1)]
        most = int(self._references.max(initial=0))
        used = np.zeros((len(rows), most + 1), dtype=np.bool_)
        used[np.arange(len(rows))[:, None], numbers] = True
        return used[:, 1:]
