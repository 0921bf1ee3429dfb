"""Chunks of bytes as one stream, read lazily."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

__all__ = ["ChunkStream"]


class ChunkStream(io.RawIOBase):
    """A stream of the chunks that an iterator gives; an empty chunk ends it.

    >>> io.BufferedReader(ChunkStream(iter([b"one ", b"line\\n", b"and "]))).readline()
    b'one line\\n'
    """

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        """It can be read."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """The next bytes; none at the end."""
        if not self._rest:
            self._rest = memoryview(next(self._chunks, b""))
        taken, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(taken)] = taken
        return len(taken)
