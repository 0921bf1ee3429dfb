"""Rows and records in SQLite: any number of rows in bounded memory, and caches that runs and processes share."""

from __future__ import annotations

import hashlib
import json
import logging
import pickle
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Generic, TypeVar, overload

from qdecomp.data_structures.errors import DataError

RowType = TypeVar("RowType")

_KIBIBYTES_IN_MEMORY = 32_768


class RowStore(Sequence[RowType], Generic[RowType]):
    """A list that grows at its end, by place and by id; a row is a new value each time.

    Its database has no name: it lives in SQLite's page cache, and only what does not fit there goes to a file, which is
    gone when the store is.

    >>> rows = RowStore()
    >>> for name in ("ab", "cd", "ab"):
    ...     rows.append(tuple(name), name)
    >>> len(rows), rows[1], rows.find("ab"), rows.find("x"), list(rows.ids())
    (3, ('c', 'd'), 0, None, ['ab', 'cd', 'ab'])
    """

    def __init__(self) -> None:
        self._length = 0
        self._database = sqlite3.connect("", check_same_thread=False)
        for statement in (
            "PRAGMA journal_mode = OFF",
            f"PRAGMA cache_size = -{_KIBIBYTES_IN_MEMORY}",
            "CREATE TABLE rows (place INTEGER PRIMARY KEY, id TEXT, row BLOB NOT NULL)",
            "CREATE INDEX ids ON rows (id) WHERE id IS NOT NULL",
        ):
            self._database.execute(statement)

    def append(self, row: RowType, row_id: str | None = None) -> None:
        """Add a row at the end."""
        self.put(self._length, row, row_id)

    def put(self, place: int, row: RowType, row_id: str | None = None) -> None:
        """Write a row to a place; places may be filled in any order, but all of them must be."""
        key = None if row_id is None else json.dumps(row_id)
        try:
            self._database.execute("INSERT INTO rows VALUES (?, ?, ?)", (place, key, pickle.dumps(row)))
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
        found: RowType = pickle.loads(self._database.execute(query, (range(self._length)[place],)).fetchone()[0])
        return found

    def __iter__(self) -> Iterator[RowType]:
        for (row,) in self._database.execute("SELECT row FROM rows ORDER BY place"):
            yield pickle.loads(row)


_SECONDS_TO_WAIT_FOR_ANOTHER_PROCESS = 60.0
logger = logging.getLogger(__name__)


class RecordCache:
    """JSON objects by key in an SQLite file, which several processes may share.

    If the file cannot be read or written, it is damaged or a record was changed, that costs time, never a result.
    """

    def __init__(self, path: Path, table: str) -> None:
        self.path = path
        self._table = table

    def find(self, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
        """The records of those keys that have one."""
        found: dict[str, dict[str, Any]] = {}
        query = f"SELECT CAST(record AS TEXT), checksum FROM {self._table} WHERE key = ?"
        with _as_warning(self.path), self._connected() as connection:
            for key in keys:
                for record, checksum in connection.execute(query, (key,)):
                    if checksum == _checksum(key, record):
                        found[key] = json.loads(record)
        return found

    def keep(self, records: Mapping[str, Mapping[str, Any]]) -> None:
        """Write records, in place of older ones of the same keys."""
        texts = {key: json.dumps(record) for key, record in records.items()}
        rows = [(key, text, _checksum(key, text)) for key, text in texts.items()]
        with _as_warning(self.path), self._connected() as connection, connection:
            connection.executemany(f"INSERT OR REPLACE INTO {self._table} VALUES (?, ?, ?)", rows)

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self.path, timeout=_SECONDS_TO_WAIT_FOR_ANOTHER_PROCESS)) as connection:
            # A damaged text is as good as none.
            connection.text_factory = partial(str, encoding="utf-8", errors="replace")
            connection.execute(
                f"CREATE TABLE IF NOT EXISTS {self._table} "
                "(key TEXT PRIMARY KEY, record TEXT NOT NULL, checksum BLOB NOT NULL) WITHOUT ROWID"
            )
            yield connection


@contextmanager
def _as_warning(path: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        _warn(path, str(error))


@lru_cache(maxsize=100)
def _warn(path: Path, reason: str) -> None:
    """Say once, not for every chunk of a file, that there is no cache."""
    logger.warning("%s: this cache cannot be used (%s); continuing without it", path, reason)


def _checksum(key: str, record: str) -> bytes:
    return hashlib.blake2b(f"{key} {record}".encode(), digest_size=8).digest()
