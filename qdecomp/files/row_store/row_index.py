"""Finds the row of an id, with sixteen bytes of memory for each row."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Iterable, Iterator

__all__ = ["RowIndex"]


class RowIndex:
    """The places of rows by their ids, without the ids: the index has a short digest of each.

    ``id_at`` gives the id of the row at a place, to check that a digest really was that of the id.

    >>> ids = ["ATIS_1", "DROP_7", "ATIS_1"]
    >>> index = RowIndex(ids, ids.__getitem__)
    >>> index.find("DROP_7"), index.find("GEO_2"), index.first_repetition()
    (1, None, (0, 2))
    """

    def __init__(self, ids: Iterable[str], id_at: Callable[[int], str]) -> None:
        import numpy as np

        self._id_at = id_at
        digests = np.frombuffer(array("Q", map(_digest, ids)), dtype=np.uint64)
        self._places = np.argsort(digests, kind="stable")
        self._digests = digests[self._places]

    def find(self, wanted: str) -> int | None:
        """The first place of an id."""
        return next((place for place in self._candidates(_digest(wanted)) if self._id_at(place) == wanted), None)

    def _candidates(self, digest: int) -> Iterator[int]:
        import numpy as np

        at = int(np.searchsorted(self._digests, np.uint64(digest)))
        while at < len(self._digests) and self._digests[at] == digest:
            yield int(self._places[at])
            at += 1

    def first_repetition(self) -> tuple[int, int] | None:
        """The first place whose id occurred earlier, preceded by that earlier place."""
        for place in sorted(self._repeated_digests()):
            first = self.find(self._id_at(place))
            if first is not None and first < place:
                return first, place
        return None

    def _repeated_digests(self) -> Iterator[int]:
        import numpy as np

        again = np.flatnonzero(self._digests[1:] == self._digests[:-1]) + 1
        return (int(self._places[at]) for at in again)


def _digest(text: str) -> int:
    # Ids of predictions may contain lone surrogates, which UTF-8 cannot encode.
    return int.from_bytes(hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest(), "little")
