"""LF-EM: whether two decompositions of a question have the same normalised logical form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from qdecomp.data_structures.errors import DataError, ErrorText, QDecompError, Side, StepError
from qdecomp.data_structures.lf_em.normalization import normalized_contents_text
from qdecomp.data_structures.lf_em.step_content import contents_of_decomposition
from qdecomp.data_structures.logical_form import LogicalForm
from qdecomp.data_structures.qdmr import Qdmr
from qdecomp.data_structures.reading import read_decomposition
from qdecomp.data_structures.tokenization import check_length

__all__ = ["METRIC_VERSION", "AnyDecomposition", "LfEmResult", "WrittenDecomposition", "lf_em", "normalized_text"]

METRIC_VERSION = "2"
"""Changes whenever a verdict may change."""

AnyDecomposition = str | Qdmr | LogicalForm
"""What can be compared: Break's text, a parsed decomposition, or a logical form."""

WrittenDecomposition = AnyDecomposition | Sequence[Any] | Mapping[str, Any]
"""What can be read as a decomposition, including text in another form, a list of steps, or an object with steps."""


@dataclass(frozen=True, slots=True)
class LfEmResult:
    """The verdict with what it is based on; for a side without a logical form, None and a reason in ``error``."""

    verdict: bool
    error: ErrorText | None
    prediction_normalized: str | None
    gold_normalized: str | None

    def __bool__(self) -> bool:
        return self.verdict


def lf_em(
    question: str, prediction: WrittenDecomposition, gold: WrittenDecomposition, *, strict: bool = False
) -> LfEmResult:
    """Compare a predicted with a gold decomposition.

    The default is the published metric. ``strict`` counts the differences in meaning that the published metric
    overlooks, and reads steps that it cannot read. A side that cannot be read makes the verdict false and gives the
    reason in ``error``. Lists of steps and text that is not Break's are read as
    :func:`~qdecomp.data_structures.reading.read_decomposition` does.

    >>> question = "How many red cubes are there?"
    >>> gold = "return cubes ;return #1 that are red ;return number of #2"
    >>> lf_em(question, "return red cube ;return the number of #1", gold).verdict
    True
    >>> lf_em(question, "return red cubes ;return number of #2", gold).error
    'prediction: step 2: refers to itself (#2)'
    >>> lf_em(question, ["red cubes", "the number of #1"], gold).verdict
    True
    """
    _require_decompositions(question, prediction, gold)
    errors: list[QDecompError] = []
    normalized: list[str | None] = []
    sides: tuple[tuple[Side, WrittenDecomposition], ...] = (("prediction", prediction), ("gold", gold))
    for side, value in sides:
        try:
            normalized.append(normalized_text(question, _readable(value), strict=strict))
        except QDecompError as error:
            normalized.append(None)
            errors.append(error.of(side))
    verdict = not errors and normalized[0] == normalized[1]
    return LfEmResult(verdict, ErrorText.of(*errors) if errors else None, normalized[0], normalized[1])


def _require_decompositions(question: Any, prediction: Any, gold: Any) -> None:
    """Raise for wrong types: a mistake of the caller is not a wrong prediction."""
    if not isinstance(question, str):
        raise DataError(f"the question must be a string, not {type(question).__name__}")
    for side, value in (("prediction", prediction), ("gold", gold)):
        # Most are strings; checking for a sequence is slow.
        if isinstance(value, str):
            continue
        if not isinstance(value, Qdmr | LogicalForm | Sequence | Mapping) or isinstance(value, bytes | bytearray):
            raise DataError(f"{side}: a decomposition must be a string or a list of steps, not {type(value).__name__}")


def _readable(value: WrittenDecomposition) -> AnyDecomposition:
    if isinstance(value, str):
        return _readable_text(value)
    return value if isinstance(value, Qdmr | LogicalForm) else read_decomposition(value).text


@lru_cache(maxsize=4096)
def _readable_text(text: str) -> str:
    return read_decomposition(text).text


@lru_cache(maxsize=16384)
def normalized_text(question: str, decomposition: AnyDecomposition, *, strict: bool = False) -> str:
    """The text that LF-EM compares: the normalised steps, separated by semicolons.

    >>> normalized_text("How many red cubes are there?", "return red cubes ;return number of #1")
    'SELECT[](){cube,red}; AGGREGATE[count](arg=#1){}'
    """
    check_length(question)
    contents = contents_of_decomposition(decomposition)
    if not strict:
        for number, content in enumerate(contents, start=1):
            if content[-1]:
                raise StepError("the published rules have no operator for it", number)
    return normalized_contents_text(question, contents, strict=strict)
