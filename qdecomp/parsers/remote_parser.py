"""Parsers that other processes and other machines open themselves, and the predictions that they make there."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import lru_cache

from qdecomp.data_structures.errors import DataError
from qdecomp.parsers.decomposition import Decomposition
from qdecomp.parsers.parser_source import ParserSource, Predict, predict_each

__all__ = ["RemoteParser", "predict_on_worker", "remote_parser", "taking_turns"]

_TURN = threading.Lock()


def taking_turns() -> AbstractContextManager[object]:
    """The threads of a worker take turns: not every parser can do two things at once, and none gets faster by it."""
    return _TURN


@dataclass(frozen=True, slots=True)
class RemoteParser:
    """A parser that a worker opens itself; what it finds must be the requested parser."""

    source: ParserSource
    content: tuple[str, ...]
    is_bundled: bool

    def open(self) -> Predict:
        """Load the parser on this machine; a process keeps the one that it loaded last."""
        return _opened(self)


def remote_parser(source: ParserSource) -> RemoteParser:
    """What workers need to know about the parser of a source."""
    from qdecomp.parsers.bundle import BUNDLED

    # Workers have other working folders.
    source = replace(source, path=source.path.resolve())
    return RemoteParser(source, tuple(source.content()), source.path == BUNDLED.resolve())


@lru_cache(maxsize=1)
def _opened(remote: RemoteParser) -> Predict:
    from qdecomp.parsers.bundle import BUNDLED

    # Every installation has the bundled parser in its own place.
    source = replace(remote.source, path=BUNDLED) if remote.is_bundled else remote.source
    if not source.path.exists():
        raise DataError(f"{source.path}: a worker does not have this parser; put it where all workers can read it")
    if tuple(source.content()) != remote.content:
        raise DataError(f"{source.path}: a worker has a different parser there; give all workers the same one")
    return source.open()


def predict_on_worker(remote: RemoteParser, questions: Sequence[str]) -> Sequence[Decomposition]:
    """On a worker: the predictions of a batch."""
    with taking_turns():
        return predict_each(remote.open(), questions)
