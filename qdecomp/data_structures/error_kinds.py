"""Errors and messages without the details that differ from row to row, so that equal reasons are counted together."""

from __future__ import annotations

import re

from qdecomp.data_structures.errors import ConversionError, QDecompError, QdmrSyntaxError
from qdecomp.data_structures.mistakes import OurMistakeError

__all__ = ["kind_of_error", "kinds_in_message", "reasons_of"]

_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|“[^”]*”")
_NUMBER = re.compile(r"\d+")
_STEP = re.compile(r"\bstep \d+: ")
_BRACKETS = re.compile(r"\s*\([^)]*\)")
_CHAIN = re.compile(r"#N(?: → #N)+")
_SIDES = re.compile(r"; (?=(?:prediction|gold): )")


def kind_of_error(error: QDecompError) -> str:
    """The reason for an error with its stage, but without its step and its details.

    >>> kind_of_error(ConversionError("lf", "no rule for the words (a b)", 3))
    'lf: no rule for the words'
    """
    if isinstance(error, OurMistakeError):
        return error.reason
    if isinstance(error, QdmrSyntaxError):
        error = ConversionError("qdmr", error.reason)
    text = _without_particulars(_BRACKETS.sub("", _STEP.sub("", str(error))))
    stage, _, rest = text.partition(": ")
    return f"{stage}: {rest.split(':')[0]}" if rest and stage.replace(" ", "").isalpha() else text


def kinds_in_message(error: str) -> tuple[str, ...]:
    """The reasons for an error, one for each side, without the numbers and words that differ from row to row.

    >>> kinds_in_message("prediction: step 3: refers to #7, but there are 5 steps; gold: there is no step")
    ('prediction: step N: refers to #N, but there are N steps', 'gold: there is no step')
    """
    return tuple(map(_without_particulars, reasons_of(error)))


def _without_particulars(reason: str) -> str:
    return _CHAIN.sub("#N → …", _NUMBER.sub("N", _QUOTED.sub("…", reason)))


def reasons_of(error: str) -> tuple[str, ...]:
    """The reasons for an error as they were given, one for each side."""
    return tuple(_SIDES.split(error))
