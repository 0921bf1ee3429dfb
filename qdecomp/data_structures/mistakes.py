"""If our code fails on a row, that becomes the error of this row, so that no question can stop a batch.

Code that processes rows handles each of them inside :func:`as_row_errors`. The message of such an error is marked, and
stays marked in records, tables and reports: commands count these errors with :func:`is_mistake` and exit with code 1.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from qdecomp.data_structures.errors import QDecompError

__all__ = ["OurMistakeError", "as_row_errors", "is_mistake"]

_MARK = "a mistake in qdecomp, please report it"
_LONGEST_DETAILS = 200


class OurMistakeError(QDecompError):
    """The code failed where it should not have; the message says how and where, for a bug report."""

    def __init__(self, kind: str, details: str = "") -> None:
        super().__init__(kind, details)
        self.reason = f"{_MARK}: {kind}"
        """The message without what differs from row to row, for counting."""
        self._details = details

    def __str__(self) -> str:
        return f"{self.reason}: {self._details}" if self._details else self.reason


@contextmanager
def as_row_errors() -> Iterator[None]:
    """Turn every error that is not raised on purpose into an :class:`OurMistakeError`.

    >>> with as_row_errors():  # doctest: +ELLIPSIS
    ...     "y"[-2]
    Traceback (most recent call last):
    ...
    qdecomp.data_structures.mistakes.OurMistakeError: a mistake in qdecomp, please report it: IndexError in ...
    """
    try:
        yield
    except QDecompError:
        raise
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}"
        # Errors of libraries have several lines, or many words, or none.
        details = " ".join(str(error).split())[:_LONGEST_DETAILS]
        raise OurMistakeError(f"{type(error).__name__} in {place}", details) from error


def is_mistake(error: str | None) -> bool:
    """Whether the error of a row, as it is written in a record or a table, is a mistake of ours."""
    return error is not None and _MARK in error
