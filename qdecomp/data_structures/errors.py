"""Every error that the project raises on purpose.

A caller that wants to continue after a bad row catches :class:`QDecompError`; any other exception is a bug.
"""

from __future__ import annotations

__all__ = [
    "AlignmentError",
    "ConversionError",
    "DataError",
    "GraphError",
    "LogicalFormSyntaxError",
    "QDecompError",
    "QdmrSyntaxError",
    "StepError",
    "missing_extra",
    "require_text",
]


class QDecompError(Exception):
    """The base of all errors of this project."""


class DataError(QDecompError):
    """A file, a row or an option cannot be used; the message says which one and what to do."""


def missing_extra(what: str, extra: str) -> DataError:
    """The error for something that needs an extra which is not installed; it says how to install it.

    >>> print(missing_extra("the service", "serve"))
    the service needs more packages: pip install 'question-decomposition[serve]' (in a clone: pip install '.[serve]')
    """
    install = f"pip install 'question-decomposition[{extra}]' (in a clone: pip install '.[{extra}]')"
    return DataError(f"{what} needs more packages: {install}")


def require_text(value: object, what: str) -> None:
    """Raise unless a value is a string; ``what`` names it in the message."""
    if not isinstance(value, str):
        raise DataError(f"{what} must be a string, not {type(value).__name__}")


class StepError(QDecompError, ValueError):
    """Something is wrong in one step (counted from 1) or, if ``step`` is None, in the whole."""

    def __init__(self, reason: str, step: int | None = None) -> None:
        super().__init__(reason, step)
        self.reason = reason
        self.step = step

    def __str__(self) -> str:
        return self.reason if self.step is None else f"step {self.step}: {self.reason}"


class QdmrSyntaxError(StepError):
    """A text is not a decomposition."""


class LogicalFormSyntaxError(StepError):
    """A text or a JSON value is not a logical form."""


class ConversionError(StepError):
    """One representation has no counterpart in the next; ``stage`` names the conversion, e.g. ``lf``."""

    def __init__(self, stage: str, reason: str, step: int | None = None) -> None:
        super().__init__(reason, step)
        self.args = (stage, reason, step)
        self.stage = stage

    def __str__(self) -> str:
        return f"{self.stage}: {super().__str__()}"


class AlignmentError(ConversionError):
    """The question's tokens and the steps' tokens cannot be aligned."""

    def __init__(self, reason: str, step: int | None = None) -> None:
        super().__init__("alignment", reason, step)
        self.args = (reason, step)


class GraphError(ConversionError):
    """A graph means nothing: the reason says what is wrong and where."""
