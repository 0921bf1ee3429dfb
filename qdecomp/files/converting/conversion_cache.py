"""Conversions of annotated questions, made once, on several cores, and kept on disk.

A conversion is kept under a key of its content (question, decomposition, special tokens) and the version of the rules,
so a graph made by other rules is never used. The cache is an SQLite file, which several processes may share.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

from qdecomp.data_structures.conversion.chain import CONVERSION_VERSION
from qdecomp.data_structures.special_tokens import SpecialTokens
from qdecomp.files.converting.conversion_records import AnnotatedPair, conversion_key, make_conversion_records
from qdecomp.terminal import progress
from qdecomp.workers.processes import rows_in_processes

__all__ = ["ConversionCache", "default_cache_folder"]

logger = logging.getLogger(__name__)

_SECONDS_TO_WAIT_FOR_ANOTHER_PROCESS = 60.0
_ROWS_A_TRANSACTION = 200
_ROWS_FOR_PROGRESS = 100
_TABLE = "CREATE TABLE IF NOT EXISTS conversions (key TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID"


def default_cache_folder() -> Path:
    """``$QDECOMP_CACHE``, or the folder ``qdecomp`` in the user's cache folder."""
    if chosen := os.environ.get("QDECOMP_CACHE"):
        return Path(chosen).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "qdecomp"


class ConversionCache:
    """Converts annotated questions, or finds earlier conversions in ``folder``.

    If the folder cannot be written or the file is damaged, that costs time and a warning, never a result.
    """

    def __init__(self, folder: str | Path | None = None, version: str = CONVERSION_VERSION) -> None:
        self._version = version
        self.path = (Path(folder) if folder else default_cache_folder()) / f"conversions-{version}.sqlite"

    def records(
        self, pairs: Sequence[AnnotatedPair], special: SpecialTokens, *, processes: int | None = None
    ) -> list[dict[str, Any]]:
        """The conversion of each pair, see :func:`.make_conversion_record`.

        ``processes`` is how many cores convert what is not found, all by default.
        """
        keys = [conversion_key(*pair, special, self._version) for pair in pairs]
        found: dict[str, dict[str, Any]] = {}
        try:
            with self._connect() as connection:
                found.update(_lookup(connection, keys))
                results = _convert(_missing(keys, pairs, found), special, processes)
                # Written in chunks: a kill loses little, and other processes need not wait for the whole file.
                while chunk := list(islice(results, _ROWS_A_TRANSACTION)):
                    found.update(chunk)
                    _store(connection, chunk)
        except (sqlite3.Error, OSError) as error:
            _warn(self.path, str(error))
            found.update(_convert(_missing(keys, pairs, found), special, processes))
        return [found[key] for key in keys]

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self.path, timeout=_SECONDS_TO_WAIT_FOR_ANOTHER_PROCESS)) as connection:
            connection.execute(_TABLE)
            yield connection


@lru_cache(maxsize=100)
def _warn(path: Path, reason: str) -> None:
    """Say once, not for every chunk of a file, that there is no cache."""
    logger.warning("%s: the cache of conversions cannot be used (%s); converting without it", path, reason)


def _missing(keys: Sequence[str], pairs: Sequence[AnnotatedPair], found: Mapping[str, Any]) -> dict[str, AnnotatedPair]:
    return {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in found}


def _lookup(connection: sqlite3.Connection, keys: Iterable[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    remaining = iter(dict.fromkeys(keys))
    while chunk := list(islice(remaining, 500)):
        marks = ",".join("?" * len(chunk))
        for key, record in connection.execute(f"SELECT key, record FROM conversions WHERE key IN ({marks})", chunk):
            yield key, json.loads(record)


def _store(connection: sqlite3.Connection, records: Iterable[tuple[str, dict[str, Any]]]) -> None:
    # A bug of ours may be fixed without a new version of the rules.
    rows = [(key, json.dumps(record)) for key, record in records if "internal_error" not in record]
    with connection:
        connection.executemany("INSERT OR REPLACE INTO conversions VALUES (?, ?)", rows)


def _convert(
    wanted: Mapping[str, AnnotatedPair], special: SpecialTokens, processes: int | None
) -> Iterator[tuple[str, dict[str, Any]]]:
    work = partial(make_conversion_records, special=special)
    results = zip(wanted, rows_in_processes(work, wanted.values(), len(wanted), processes), strict=True)
    return progress(results, "Converting to graphs", len(wanted)) if len(wanted) > _ROWS_FOR_PROGRESS else results
