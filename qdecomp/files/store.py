"""Any number of rows in bounded memory, by place and by id, in a temporary SQLite database.

A database without a name lives in SQLite's page cache, and only what does not fit there goes to a file, which is gone
when the store is.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar, overload

from qdecomp.data_structures.errors import DataError

RowType = TypeVar("RowType")

_KIBIBYTES_IN_MEMORY = 32_768
_TABLE = "CREATE TABLE rows (place INTEGER PRIMARY KEY, id TEXT, row TEXT NOT NULL)"
_INDEX = "CREATE INDEX ids ON rows (id) WHERE id IS NOT NULL"


class RowStore(Sequence[RowType], Generic[RowType]):
    """A list that grows at its end; a row is a new value each time.

    ``dump`` makes a value of JSON of a row, and ``load`` reads it back.

    >>> rows = RowStore(list, tuple)
    >>> for name in ("ab", "cd", "ab"):
    ...     rows.append(tuple(name), name)
    >>> len(rows), rows[1], rows.find("ab"), rows.find("x"), list(rows.ids())
    (3, ('c', 'd'), 0, None, ['ab', 'cd', 'ab'])
    """

    def __init__(self, dump: Callable[[RowType], Any], load: Callable[[Any], RowType]) -> None:
        self._dump = dump
        self._load = load
        self._length = 0
        self._database = sqlite3.connect("", check_same_thread=False)
        for setting in ("journal_mode = OFF", f"cache_size = -{_KIBIBYTES_IN_MEMORY}"):
            self._database.execute(f"PRAGMA {setting}")
        for statement in (_TABLE, _INDEX):
            self._database.execute(statement)

    def append(self, row: RowType, row_id: str | None = None) -> None:
        """Add a row at the end."""
        self.put(self._length, row, row_id)

    def put(self, place: int, row: RowType, row_id: str | None = None) -> None:
        """Write a row to a place; places may be filled in any order, but all of them must be."""
        key = None if row_id is None else json.dumps(row_id)
        try:
            self._database.execute("INSERT INTO rows VALUES (?, ?, ?)", (place, key, json.dumps(self._dump(row))))
        except sqlite3.OperationalError as error:
            raise DataError(f"{tempfile.gettempdir()}: rows cannot be kept there ({error})") from None
        self._length = max(self._length, place + 1)

    def find(self, row_id: str) -> int | None:
        """The first place of an id."""
        query = "SELECT MIN(place) FROM rows WHERE id = ?"
        (place,) = self._database.execute(query, (json.dumps(row_id),)).fetchone()
        return None if place is None else int(place)

    def ids(self) -> Iterator[str]:
        """The ids of the rows that have one, in order."""
        for (row_id,) in self._database.execute("SELECT id FROM rows WHERE id IS NOT NULL ORDER BY place"):
            yield json.loads(row_id)

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, place: int) -> RowType: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[RowType]: ...
    def __getitem__(self, place: int | slice) -> RowType | Sequence[RowType]:
        if isinstance(place, slice):
            return tuple(self[each] for each in range(*place.indices(self._length)))
        query = "SELECT row FROM rows WHERE place = ?"
        return self._load(json.loads(self._database.execute(query, (range(self._length)[place],)).fetchone()[0]))

    def __iter__(self) -> Iterator[RowType]:
        for (row,) in self._database.execute("SELECT row FROM rows ORDER BY place"):
            yield self._load(json.loads(row))
