"""Any number of rows in bounded memory, found by their ids."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

from qdecomp.files.row_store.row_index import RowIndex
from qdecomp.files.row_store.spilled_rows import ROWS_IN_MEMORY, SpilledRows

__all__ = ["RowsById"]

IdentifiedRow = TypeVar("IdentifiedRow")


class RowsById(Generic[IdentifiedRow]):
    """Rows in order, and by id; of several rows with one id, the first is found.

    >>> rows = RowsById([("a", 1), ("b", 2), ("b", 3)], in_memory=1)
    >>> rows.find("b"), rows.find("c"), rows[2], len(rows), rows.first_repetition()
    (2, None, ('b', 3), 3, (1, 2))
    """

    def __init__(self, rows: Iterable[tuple[str, IdentifiedRow]] = (), *, in_memory: int = ROWS_IN_MEMORY) -> None:
        self._rows = SpilledRows(rows, in_memory=in_memory)
        self._index = RowIndex((row_id for row_id, _ in self._rows), lambda place: self._rows[place][0])
        self._next = 0

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, place: int) -> tuple[str, IdentifiedRow]:
        return self._rows[place]

    def find(self, row_id: str) -> IdentifiedRow | None:
        """The row of an id."""
        # Files mostly have the same order, so the row is likely to follow the one that was found last.
        if self._next < len(self._rows):
            found, row = self._rows[self._next]
            if found == row_id:
                self._next += 1
                return row
        place = self._index.find(row_id)
        if place is None:
            return None
        self._next = place + 1
        return self._rows[place][1]

    def first_repetition(self) -> tuple[int, int] | None:
        """The first place with an id that was there before, after that earlier place."""
        return self._index.first_repetition()
