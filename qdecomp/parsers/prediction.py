"""What a parser answers to one question, and the record that is written for it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from qdecomp.data_structures.conversion.chain import logical_form_from_graph
from qdecomp.data_structures.conversion.qdmr_to_lf import to_logical_form, to_qdmr
from qdecomp.data_structures.dependency_graph import (
    DependencyGraph,
    dependency_graph_from_json,
    dependency_graph_to_json,
)
from qdecomp.data_structures.errors import DataError, ErrorText, QDecompError, is_internal
from qdecomp.data_structures.logical_form import LogicalForm, format_step, parse_logical_form
from qdecomp.data_structures.qdmr import format_qdmr, parse_qdmr
from qdecomp.data_structures.reading import read_decomposition

__all__ = [
    "Candidate",
    "Prediction",
    "failed_prediction",
    "prediction_from_graph",
    "prediction_from_record",
    "prediction_from_text",
    "prediction_to_record",
]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One of the best decompositions that a parser found, and the logarithm of its probability."""

    decomposition: str
    score: float


@dataclass(frozen=True, slots=True)
class Prediction:
    """A predicted decomposition in every form that the parser has; ``error`` says why one is missing.

    ``candidates`` are the best that the parser found, this one first, if it was asked for them. ``calibrated`` is the
    probability that it is right, by the parser's calibration if it has one, and ``margin`` how much more probable the
    parser finds it than the next best, in nats, if known.
    """

    decomposition: str | None = None
    form: LogicalForm | None = None
    graph: DependencyGraph | None = None
    score: float | None = None
    error: str | None = None
    candidates: tuple[Candidate, ...] = ()
    calibrated: float | None = None
    margin: float | None = None

    @property
    def confidence(self) -> float | None:
        """The probability that it is right, from 0 to 1: calibrated, or else as the parser gives it."""
        if self.calibrated is not None or self.score is None:
            return self.calibrated
        return math.exp(min(self.score, 0.0))

    @property
    def is_valid(self) -> bool:
        """Whether the prediction has a meaning: a logical form."""
        return self.form is not None


def prediction_from_graph(
    graph: DependencyGraph,
    score: float | None = None,
    read: Callable[[DependencyGraph], LogicalForm] = logical_form_from_graph,
) -> Prediction:
    """Read a predicted graph; one that means nothing gives a prediction without a decomposition, and the reason.

    >>> prediction_from_graph(DependencyGraph(("red", "cubes"))).error
    'dependency graph: there is no edge'
    """
    try:
        form = read(graph)
        text = format_qdmr(to_qdmr(form))
    except QDecompError as error:
        return Prediction(graph=graph, score=score, error=ErrorText.of(error))
    return Prediction(text, form, graph, score)


def prediction_from_text(text: str, score: float | None = None) -> Prediction:
    """Read a predicted decomposition; the text is kept as it is, even if it has no logical form.

    >>> print(prediction_from_text("return rivers ;return number of #1").form)
    SELECT[](sub=rivers)
    AGGREGATE[count](arg=#1)
    """
    if not text.strip():
        return Prediction(score=score, error="the decomposition is empty")
    try:
        return Prediction(text, to_logical_form(parse_qdmr(text)), score=score)
    except QDecompError as error:
        return Prediction(text, score=score, error=ErrorText.of(error))


def failed_prediction(error: Exception | str) -> Prediction:
    """The prediction for a question that was never parsed."""
    text = ErrorText.of(error) if isinstance(error, QDecompError) else str(error)
    return Prediction(error=text or type(error).__name__)


def prediction_to_record(prediction: Prediction, question_id: str, question: str) -> dict[str, Any]:
    """The record of a prediction for ``json.dumps``: the same for every parser."""
    form, graph, score = prediction.form, prediction.graph, prediction.score
    candidates = [{"decomposition": each.decomposition, "score": each.score} for each in prediction.candidates]
    record: dict[str, Any] = {
        "question_id": question_id,
        "question": question,
        "decomposition": prediction.decomposition,
        "logical_form": None if form is None else [format_step(step) for step in form.steps],
        "graph": None if graph is None else dependency_graph_to_json(graph),
        # JSON has no infinity.
        "score": score if score is not None and math.isfinite(score) else None,
        "error": prediction.error,
    }
    if is_internal(prediction.error):
        record["internal_error"] = True
    if prediction.calibrated is not None:
        record["confidence"] = prediction.calibrated
    if candidates:
        record["candidates"] = candidates
    return record


def prediction_from_record(record: Mapping[str, Any]) -> Prediction:
    """Read a prediction back from its record; a form that the record lacks is derived from the one that it has.

    The decomposition may be in any form that :func:`~qdecomp.data_structures.reading.read_decomposition` reads. A
    record that cannot be read is a :class:`DataError`.

    >>> print(prediction_from_record({"decomposition": "return rivers"}).form)
    SELECT[](sub=rivers)
    """
    if not isinstance(record, Mapping):
        raise DataError(f"not a prediction record: an object is expected, not {type(record).__name__}")
    text, graph, steps = (record.get(name) for name in ("decomposition", "graph", "logical_form"))
    score, error = record.get("score"), record.get("error")
    try:
        if text is not None and text != "":
            text = read_decomposition(text).text
        read = Prediction(
            text,
            None if steps is None else parse_logical_form(steps),
            None if graph is None else dependency_graph_from_json(graph),
            None if score is None else float(score),
            None if error is None else str(error),
            tuple(
                Candidate(str(each["decomposition"]), float(each["score"])) for each in record.get("candidates") or ()
            ),
            None if record.get("confidence") is None else float(record["confidence"]),
        )
        _check_steps(read)
    except (QDecompError, TypeError, ValueError, KeyError, OverflowError) as reason:
        raise DataError(f"not a prediction record: {reason}") from None
    if read.form is not None or read.error is not None:
        return read
    if text is not None:
        found = prediction_from_text(text, read.score)
        return replace(found, graph=read.graph, candidates=read.candidates, calibrated=read.calibrated)
    if read.graph is not None:
        found = prediction_from_graph(read.graph, read.score)
        return replace(found, candidates=read.candidates, calibrated=read.calibrated)
    return replace(read, error="the record has neither a decomposition nor a graph")


def _check_steps(prediction: Prediction) -> None:
    """Raise if the steps of the logical form are not the decomposition's; one that cannot be read is not compared."""
    if prediction.form is None or prediction.decomposition is None:
        return
    try:
        steps = len(parse_qdmr(prediction.decomposition))
    except QDecompError:
        return
    if steps != len(prediction.form):
        raise DataError(f"the decomposition has {steps} steps, the logical form {len(prediction.form)}")
