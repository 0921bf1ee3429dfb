"""Any number of rows in bounded memory: the first ones are kept, the others go to a temporary file."""

from __future__ import annotations

import os
import pickle
import tempfile
import threading
from abc import abstractmethod
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, Generic, TypeVar, overload

from qdecomp.files.writing.output_stream import writing

__all__ = ["ROWS_IN_MEMORY", "SpilledRows"]

RowType = TypeVar("RowType")

ROWS_IN_MEMORY = 20_000
"""How many rows are kept before the rest goes to disk."""
_ROWS_AT_A_TIME = 512


class _Rows(Sequence[RowType], Generic[RowType]):
    """A sequence that knows how to get one row; a slice of it is a tuple of rows."""

    @overload
    def __getitem__(self, place: int) -> RowType: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[RowType]: ...
    def __getitem__(self, place: int | slice) -> RowType | Sequence[RowType]:
        if isinstance(place, slice):
            return tuple(self[each] for each in range(*place.indices(len(self))))
        return self._row(place)

    @abstractmethod
    def _row(self, place: int) -> RowType:
        """The row at this place; a negative one counts from the end."""


class SpilledRows(_Rows[RowType]):
    """A list that grows at its end and holds all but its first rows in a temporary file.

    A row that comes from the file is a new value each time. The file has no name and is gone when the list is. Threads
    may share it.

    >>> rows = SpilledRows("abcde", in_memory=2)
    >>> len(rows), rows[1], rows[4], list(rows)
    (5, 'b', 'e', ['a', 'b', 'c', 'd', 'e'])
    """

    def __init__(self, rows: Iterable[RowType] = (), *, in_memory: int = ROWS_IN_MEMORY) -> None:
        self._in_memory = in_memory
        self._first: list[RowType] = []
        self._ends = array("Q", [0])
        self._unwritten: list[bytes] = []
        self._file: IO[bytes] | None = None
        # The file has only one read position.
        self._turn = threading.Lock()
        for row in rows:
            self.append(row)

    def append(self, row: RowType) -> None:
        """Add a row at the end."""
        if len(self._first) < self._in_memory:
            self._first.append(row)
            return
        data = pickle.dumps(row, protocol=5)
        self._ends.append(self._ends[-1] + len(data))
        self._unwritten.append(data)
        if len(self._unwritten) == _ROWS_AT_A_TIME:
            with self._turn:
                self._write()

    def _write(self) -> None:
        with writing(_folder()):
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix="qdecomp-")  # noqa: SIM115 - it ends with the list
            self._file.seek(0, os.SEEK_END)
            self._file.write(b"".join(self._unwritten))
        self._unwritten.clear()

    def frozen(self) -> Sequence[RowType]:
        """The rows as a tuple if all of them are in memory, otherwise this list."""
        return tuple(self._first) if len(self._ends) == 1 else self

    def chosen(self, places: Sequence[int], default: RowType) -> Sequence[RowType]:
        """The rows at these places, in this order; ``default`` for a negative place."""
        if len(self._ends) == 1 and len(places) <= self._in_memory:
            return tuple(self._first[place] if place >= 0 else default for place in places)
        return _Chosen(self, places, default)

    def __len__(self) -> int:
        return len(self._first) + len(self._ends) - 1

    def _row(self, place: int) -> RowType:
        place = range(len(self))[place]
        if place < len(self._first):
            return self._first[place]
        (row,) = self._from_file(place - len(self._first), 1)
        return row

    def __iter__(self) -> Iterator[RowType]:
        yield from self._first
        start = 0
        while start < len(self._ends) - 1:
            rows = self._from_file(start, _ROWS_AT_A_TIME)
            yield from rows
            start += len(rows)

    def _from_file(self, start: int, count: int) -> list[RowType]:
        ends = self._ends[start : start + count + 1]
        with self._turn:
            if self._unwritten or self._file is None:
                self._write()
            assert self._file is not None
            self._file.seek(ends[0])
            data = memoryview(self._file.read(ends[-1] - ends[0]))
        return [
            pickle.loads(data[begin - ends[0] : end - ends[0]])
            for begin, end in zip(ends, islice(ends, 1, None), strict=False)
        ]


class _Chosen(_Rows[RowType]):
    def __init__(self, rows: SpilledRows[RowType], places: Sequence[int], default: RowType) -> None:
        self._rows = rows
        self._places = places
        self._default = default

    def __len__(self) -> int:
        return len(self._places)

    def _row(self, place: int) -> RowType:
        chosen = self._places[place]
        return self._rows[chosen] if chosen >= 0 else self._default

    def __iter__(self) -> Iterator[RowType]:
        return (self._rows[place] if place >= 0 else self._default for place in self._places)


def _folder() -> Path:
    return Path(tempfile.gettempdir())
