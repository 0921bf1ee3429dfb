"""Dependency graphs of annotated questions, converted once and kept on disk.

The key of a graph is its content (question, decomposition, special tokens) and the conversion's version; so a graph
that was made by other rules is never used. The cache is a file for SQLite, which several processes may share.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path

from qdecomp.data_structures.conversion.chain import CONVERSION_VERSION, convert
from qdecomp.data_structures.dependency_graph import (
    DependencyGraph,
    dependency_graph_from_json,
    dependency_graph_to_json,
)
from qdecomp.data_structures.errors import ConversionError, QDecompError
from qdecomp.data_structures.special_tokens import SpecialTokens
from qdecomp.terminal.progress import progress

__all__ = ["GraphCache", "default_cache_folder"]

logger = logging.getLogger(__name__)

_SECONDS_TO_WAIT_FOR_ANOTHER_PROCESS = 60.0
_ROWS_A_TRANSACTION = 200
_TABLE = "CREATE TABLE IF NOT EXISTS graphs (key TEXT PRIMARY KEY, graph TEXT, error TEXT) WITHOUT ROWID"


def default_cache_folder() -> Path:
    """``$QDECOMP_CACHE``, or the folder ``qdecomp`` in the user's cache folder."""
    if chosen := os.environ.get("QDECOMP_CACHE"):
        return Path(chosen).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "qdecomp"


class GraphCache:
    """Converts annotated questions, or finds what was converted before in ``folder``.

    A folder that cannot be written, or a file that is damaged, costs time and a warning, never a result.
    """

    def __init__(self, folder: str | Path | None = None, version: str = CONVERSION_VERSION) -> None:
        self._version = version
        self.path = (Path(folder) if folder else default_cache_folder()) / f"graphs-{version}.sqlite"

    def graphs(self, pairs: Sequence[tuple[str, str]], special: SpecialTokens) -> list[DependencyGraph | QDecompError]:
        """The graph of each pair (question, decomposition), or the error that says why there is none."""
        keys = [self._key(question, decomposition, special) for question, decomposition in pairs]
        try:
            with self._connect() as connection:
                found = dict(_lookup(connection, keys))
                wanted = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in found}
                results = _converted(wanted, special)
                # Written in pieces: a kill loses little, and other processes need not wait for the whole file.
                while chunk := list(islice(results, _ROWS_A_TRANSACTION)):
                    found.update(chunk)
                    _store(connection, chunk)
        except (sqlite3.Error, OSError) as error:
            logger.warning("%s: the cache of graphs cannot be used (%s); converting without it", self.path, error)
            wanted = dict(zip(keys, pairs, strict=True))
            found = dict(_converted(wanted, special))
        return [found[key] for key in keys]

    def _key(self, question: str, decomposition: str, special: SpecialTokens) -> str:
        content = json.dumps([self._version, question, decomposition, special.appended])
        return hashlib.sha256(content.encode()).hexdigest()

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self.path, timeout=_SECONDS_TO_WAIT_FOR_ANOTHER_PROCESS)) as connection:
            connection.execute(_TABLE)
            yield connection


def _lookup(
    connection: sqlite3.Connection, keys: Iterable[str]
) -> Iterator[tuple[str, DependencyGraph | QDecompError]]:
    remaining = iter(dict.fromkeys(keys))
    while chunk := list(islice(remaining, 500)):
        marks = ",".join("?" * len(chunk))
        for key, graph, error in connection.execute(
            f"SELECT key, graph, error FROM graphs WHERE key IN ({marks})", chunk
        ):
            yield key, dependency_graph_from_json(json.loads(graph)) if graph else ConversionError(*json.loads(error))


def _store(connection: sqlite3.Connection, results: Iterable[tuple[str, DependencyGraph | QDecompError]]) -> None:
    rows = [
        (key, json.dumps(dependency_graph_to_json(result)), None)
        if isinstance(result, DependencyGraph)
        else (key, None, json.dumps(_error_parts(result)))
        for key, result in results
    ]
    with connection:
        connection.executemany("INSERT OR REPLACE INTO graphs VALUES (?, ?, ?)", rows)


def _error_parts(error: QDecompError) -> tuple[str, str, int | None]:
    """Stage, reason and step, by which equal failures are counted together."""
    stage = getattr(error, "stage", "decomposition")
    return stage, getattr(error, "reason", str(error)), getattr(error, "step", None)


def _converted(
    wanted: dict[str, tuple[str, str]], special: SpecialTokens
) -> Iterator[tuple[str, DependencyGraph | QDecompError]]:
    items = progress(wanted.items(), "converting to graphs", len(wanted)) if len(wanted) > 100 else wanted.items()
    for key, (question, decomposition) in items:
        try:
            yield key, convert(question, decomposition, special=special).graph
        except QDecompError as error:
            yield key, ConversionError(*_error_parts(error))
