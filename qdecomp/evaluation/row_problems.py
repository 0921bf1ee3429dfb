"""What can be wrong with the rows of the files that are scored."""

from __future__ import annotations

from dataclasses import dataclass

from qdecomp.data_structures.operators import TextEnum

__all__ = ["ProblemKind", "RowProblem"]


class ProblemKind(TextEnum):
    """What can be wrong with a row of a gold or prediction file."""

    MISSING = "missing"
    EXTRA = "extra"
    DUPLICATE = "duplicate"
    MALFORMED = "malformed"
    EMPTY = "empty"
    HALF_CHARACTER = "odd"
    NO_GOLD = "no gold"

    @property
    def in_gold(self) -> bool:
        """Whether the row is in the gold file."""
        return self in (ProblemKind.MISSING, ProblemKind.NO_GOLD)


@dataclass(frozen=True, slots=True)
class RowProblem:
    """A row with a problem, counted from 1; ``kind.in_gold`` says in which file."""

    kind: ProblemKind
    row: int
    question_id: str | None
    message: str
