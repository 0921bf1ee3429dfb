"""Every error that the project raises on purpose.

An error has fields: its :class:`Reason`, the ``step`` (counted from 1) and the ``side`` (``prediction`` or ``gold``)
that it is about, and the ``stage`` of a conversion. Its message is made from them, and so are two texts for counting:
``kind``, the reason in a few words, and ``pattern``, the message without what differs from row to row. Nothing ever
reads a message.

A caller that wants to continue after a bad row catches :class:`QDecompError`; any other exception is a bug. Code that
processes rows handles each of them inside :func:`as_internal_errors`, so that a bug costs one row and not the batch.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from typing_extensions import Self

Side: TypeAlias = Literal["prediction", "gold"]

_LONGEST_DETAILS = 200
_VARYING = re.compile(r"'[^']*'|\"[^\"]*\"|“[^”]*”|(\d+)")


class Reason(str):
    """Why something is an error, from a template and what is particular to this one.

    ``pattern`` is the template with gaps instead of the particulars (the names of operators stay), and ``kind`` its
    first part, without what stands in brackets or after a colon.

    >>> reason = Reason("it refers to #{}, but there are {} steps: {!r}", 7, 5, "number of #7")
    >>> print(reason, reason.pattern, reason.kind, sep="\\n")
    it refers to #7, but there are 5 steps: 'number of #7'
    it refers to #N, but there are N steps: …
    it refers to #N, but there are N steps
    """

    _template: str
    _details: tuple[object, ...]

    def __new__(cls, template: str, *details: object) -> Self:  # noqa: D102
        reason = super().__new__(cls, template.format(*details) if details else template)
        reason._template, reason._details = template, details
        return reason

    @property
    def pattern(self) -> str:
        """The template with gaps."""
        return self._template.format(*map(_gap, self._details)) if self._details else self._template

    @property
    def kind(self) -> str:
        """The reason in a few words."""
        parts = (part.partition(" (")[0] for part in self.pattern.split(": "))
        return next((part for part in parts if part not in ("N", "…")), self.pattern)


class _Gap(str):
    """Stands for a particular in a pattern, however the template formats it."""

    def __format__(self, spec: str) -> str:
        return str(self)

    def __repr__(self) -> str:
        return str(self)


def _gap(value: object) -> _Gap:
    if isinstance(value, Reason):
        return _Gap(value.pattern)
    if isinstance(value, Enum):
        return _Gap(value)
    return _Gap("N" if isinstance(value, int) else "…")


class QDecompError(Exception):
    """The base of all errors of this project."""

    stage: str | None = None
    step: int | None = None
    side: Side | None = None

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason if isinstance(reason, Reason) else Reason(reason)

    def __str__(self) -> str:
        return self._with_fields(f"step {self.step}", self.reason)

    @property
    def pattern(self) -> str:
        """The message without what differs from row to row."""
        return self._with_fields("step N", self.reason.pattern)

    def _with_fields(self, step: str, reason: str) -> str:
        fields = (self.side, self.stage, None if self.step is None else step, reason)
        return ": ".join([field for field in fields if field is not None])

    @property
    def kind(self) -> str:
        """The reason with its stage, in a few words."""
        return self.reason.kind if self.stage is None else f"{self.stage}: {self.reason.kind}"

    def of(self, side: Side) -> Self:
        """The same error, which now says whose it is."""
        self.side = side
        return self


class DataError(QDecompError):
    """A file, a row or an option cannot be used; the message says which one and what to do."""


class StepError(QDecompError, ValueError):
    """Something is wrong in one step or, if ``step`` is None, in the whole."""

    def __init__(self, reason: str, step: int | None = None) -> None:
        super().__init__(reason)
        self.args = (reason, step)
        self.step = step


class QdmrSyntaxError(StepError):
    """A text is not a decomposition."""

    @property
    def kind(self) -> str:
        """The reason; the conversion of text is the first stage of all, and its messages do not name it."""
        return f"qdmr: {self.reason.kind}"


class LogicalFormSyntaxError(StepError):
    """A text or a JSON value is not a logical form."""


class GraphError(StepError):
    """There is no graph for these steps, or a graph means nothing; ``stage`` says where, e.g. ``alignment``."""

    def __init__(self, stage: str, reason: str, step: int | None = None) -> None:
        super().__init__(reason, step)
        self.args = (stage, reason, step)
        self.stage = stage


class InternalError(QDecompError):
    """The code failed where it should not have: which error at which ``place``, and what it said, for a bug report."""

    def __init__(self, error: str, place: str, details: str = "") -> None:
        super().__init__(f"internal error, please report it: {error} in {place}")
        self.args = (error, place, details)
        self.place = place
        self.details = details

    def __str__(self) -> str:
        return f"{super().__str__()}: {self.details}" if self.details else super().__str__()

    @property
    def kind(self) -> str:
        """The error and its place."""
        return self.reason


@contextmanager
def as_internal_errors() -> Iterator[None]:
    """Turn every exception that is not raised on purpose into an :class:`InternalError`."""
    try:
        yield
    except QDecompError:
        raise
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        # Errors of libraries have several lines, or many words, or none.
        details = " ".join(str(error).split())[:_LONGEST_DETAILS]
        raise InternalError(type(error).__name__, f"{Path(frame.filename).name}:{frame.lineno}", details) from error


class ErrorText(str):
    """The messages of one or more errors in one line, for results and records, with each one's side and pattern."""

    sides: tuple[Side | None, ...] = ()
    patterns: tuple[str, ...] = ()
    is_internal: bool = False

    @classmethod
    def of(cls, *errors: QDecompError) -> Self:
        """The text for these errors."""
        text = cls("; ".join([str(error) for error in errors]))
        text.sides = tuple([error.side for error in errors])
        text.patterns = tuple([error.pattern for error in errors])
        text.is_internal = any(isinstance(error, InternalError) for error in errors)
        return text


def is_internal(error: str | None) -> bool:
    """Whether the error of a result is a bug in this project."""
    return isinstance(error, ErrorText) and error.is_internal


def patterns_of(error: str) -> tuple[str, ...]:
    """What to count an error of a result as: one pattern for each side that has an error."""
    return error.patterns if isinstance(error, ErrorText) else (pattern_of_text(error),)


def pattern_of_text(text: str) -> str:
    """A message of another program, such as the parser that wrote a record, without its numbers and quoted words."""
    return _VARYING.sub(lambda match: "N" if match[1] else "…", text)


def missing_extra(what: str, extra: str) -> DataError:
    """The error for something that needs an extra which is not installed; it says how to install it."""
    install = f"pip install 'question-decomposition[{extra}]' (in a clone: pip install '.[{extra}]')"
    return DataError(f"{what} needs more packages: {install}")


def require_text(value: object, what: str) -> None:
    """Raise unless a value is a string; ``what`` names it in the message."""
    if not isinstance(value, str):
        raise DataError(f"{what} must be a string, not {type(value).__name__}")
