"""A question with its decomposition, and the plan of how to answer it step by step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from qdecomp.data_structures.conversion.qdmr_to_lf import to_logical_form
from qdecomp.data_structures.dependency_graph import DependencyGraph
from qdecomp.data_structures.errors import DataError, QDecompError
from qdecomp.data_structures.logical_form import LogicalForm
from qdecomp.data_structures.qdmr import Qdmr, Step, parse_qdmr
from qdecomp.parsers.prediction import Prediction, prediction_to_record
from qdecomp.planning.plan import Plan, plan_of_steps

__all__ = ["Decomposition"]

# The longest question that ``repr`` shows in full.
_LONGEST_IN_REPR = 70


@dataclass(frozen=True, slots=True, repr=False)
class Decomposition:
    """What a parser says about a question. It prints as numbered steps.

    If there is none, ``error`` says why, there are no steps, and the value is falsy.
    """

    question: str
    prediction: Prediction
    question_id: str = ""

    @classmethod
    def of_text(cls, question: str, decomposition: str) -> Decomposition:
        """The decomposition for a text such as ``return flights ;return #1 from denver``."""
        qdmr = parse_qdmr(decomposition)
        return cls(question, Prediction(str(qdmr), to_logical_form(qdmr)))

    def __bool__(self) -> bool:
        return self.prediction.decomposition is not None

    def __str__(self) -> str:
        if not self:
            return f"no decomposition: {self.error}"
        return "\n".join(f"{number}. {text}" for number, text in enumerate(self.steps, start=1))

    def __repr__(self) -> str:
        question = self.question
        shown = question if len(question) <= _LONGEST_IN_REPR else f"{question[: _LONGEST_IN_REPR - 1]}…"
        if not self:
            return f"<Decomposition of {shown!r}: none>"
        count = len(self.steps)
        confidence = "" if self.confidence is None else f", confidence {self.confidence:.2f}"
        return f"<Decomposition of {shown!r}: {count} {'step' if count == 1 else 'steps'}{confidence}>"

    @property
    def steps(self) -> tuple[str, ...]:
        """The texts of the steps, without ``return``."""
        return tuple(step.text for step in self._steps())

    @property
    def qdmr(self) -> Qdmr | None:
        """The decomposition as a value; as text it is Break's form."""
        text = self.prediction.decomposition
        return None if text is None else parse_qdmr(text)

    @property
    def logical_form(self) -> LogicalForm | None:
        """The steps as operators with arguments."""
        return self.prediction.form

    @property
    def graph(self) -> DependencyGraph | None:
        """The dependency graph over the question's words: the parser's, or else that of the steps; None without one."""
        return self.drawn.graph

    @property
    def graph_error(self) -> str | None:
        """Why there is no graph."""
        if self.graph is not None:
            return None
        return _graph_of_steps(self.question, self.logical_form)[1] if self else self.error

    @property
    def drawn(self) -> Prediction:
        """The prediction with its graph; for a parser that writes steps, it is made from them on demand."""
        if self.prediction.graph is not None or self.logical_form is None:
            return self.prediction
        return replace(self.prediction, graph=_graph_of_steps(self.question, self.logical_form)[0])

    @property
    def confidence(self) -> float | None:
        """The probability that all of it is right, from 0 to 1; the parser's own if it has no calibration."""
        return self.prediction.confidence

    @property
    def error(self) -> str | None:
        """Why there is no decomposition."""
        return self.prediction.error

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is odd about the steps, such as a comparison with nothing: ``PLAN_CHECKS`` has the checks."""
        from qdecomp.data_structures.lexicon.plan_checks import plan_warnings

        if not self:
            return ()
        try:
            qdmr = self.qdmr
        except QDecompError:
            # Its error says more.
            return ()
        return () if qdmr is None else plan_warnings(self.question, qdmr)

    def to_dict(self) -> dict[str, Any]:
        """The prediction record, for ``json.dumps``."""
        record = prediction_to_record(self.prediction, self.question_id, self.question)
        return record | {"warnings": list(self.warnings)} if self.warnings else record

    def plan(self) -> Plan:
        """The steps in levels, with what their references stand for."""
        if not self:
            raise DataError(f"there is no plan, as there is no decomposition: {self.error}")
        return plan_of_steps(self._steps(), self.logical_form)

    def _steps(self) -> tuple[Step, ...]:
        qdmr = self.qdmr
        return () if qdmr is None else qdmr.steps

    def _repr_html_(self) -> str:
        from qdecomp.visualization import decomposition_html

        return decomposition_html(self.question, self.drawn)


@lru_cache(maxsize=256)
def _graph_of_steps(question: str, form: LogicalForm | None) -> tuple[DependencyGraph | None, str | None]:
    """The graph of these steps, or the reason why there is none."""
    if form is None:
        return None, "the steps have no logical form"
    from qdecomp.data_structures.conversion.chain import convert
    from qdecomp.data_structures.errors import ErrorText, as_internal_errors

    try:
        with as_internal_errors():
            return convert(question, form).graph, None
    except QDecompError as error:
        return None, ErrorText.of(error)
