"""When a parser gives no plan: for what is not a question, and for a plan that it is not sure enough of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from qdecomp.data_structures.errors import DataError
from qdecomp.parsers.decomposition import Decomposition, failed_decomposition
from qdecomp.planning.checks import not_a_question

__all__ = ["CarefulParser"]


@dataclass(frozen=True, slots=True)
class CarefulParser:
    """Passes on only what is a question to another parser, and only plans with at least ``min_confidence``.

    Confidence is calibrated if the parser has a calibration, and otherwise the parser's probability.
    """

    predict: Callable[[Sequence[str]], Sequence[Decomposition]]
    min_confidence: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.min_confidence, int | float) or not 0 <= self.min_confidence <= 1:
            raise DataError(f"min_confidence is {self.min_confidence!r}; give a number from 0 to 1")

    def __call__(self, questions: Sequence[str]) -> list[Decomposition]:
        """A prediction for each question."""
        reasons = [not_a_question(question) for question in questions]
        asked = [question for question, reason in zip(questions, reasons, strict=True) if reason is None]
        answers = iter(map(self._checked, self.predict(asked)) if asked else ())
        pairs = zip(questions, reasons, strict=True)
        return [
            next(answers) if reason is None else failed_decomposition(question, reason) for question, reason in pairs
        ]

    def _checked(self, prediction: Decomposition) -> Decomposition:
        confidence = prediction.confidence
        if prediction.text is None or confidence is None or confidence >= self.min_confidence:
            return prediction
        reason = f"the confidence {confidence:.2f} is below {self.min_confidence:g}"
        return replace(prediction, text=None, logical_form=None, predicted_graph=None, error=reason)
