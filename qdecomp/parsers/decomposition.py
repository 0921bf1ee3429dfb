"""A question with its decomposition: the one value that every parser gives, and the record that is written for it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

from qdecomp.data_structures.conversion.chain import convert, logical_form_from_graph
from qdecomp.data_structures.conversion.qdmr_to_lf import to_logical_form, to_qdmr
from qdecomp.data_structures.dependency_graph import (
    DependencyGraph,
    dependency_graph_from_json,
    dependency_graph_to_json,
)
from qdecomp.data_structures.errors import DataError, ErrorText, QDecompError, as_internal_errors, is_internal
from qdecomp.data_structures.logical_form import LogicalForm, format_step, parse_logical_form
from qdecomp.data_structures.qdmr import Qdmr, format_qdmr, parse_qdmr
from qdecomp.data_structures.reading import read_decomposition
from qdecomp.data_structures.tokenization import with_whole_numbers
from qdecomp.decoding import Decoded
from qdecomp.planning.checks import plan_warnings
from qdecomp.planning.plan import Plan, plan_of_steps


@dataclass(frozen=True, slots=True)
class Candidate:
    """One of the best decompositions that a parser found, and its log probability."""

    text: str
    score: float


@dataclass(frozen=True, slots=True)
class Answered:
    """Who answered, after how many calls of a language model, and with how many tokens."""

    by: str
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    note: str | None = None
    """What went wrong on the way, if anything."""


@dataclass(frozen=True, slots=True, repr=False)
class Decomposition:
    """What a parser says about a question. It prints as numbered steps.

    If there is none, ``error`` says why, there are no steps, and the value is falsy.
    """

    question: str
    text: str | None = None
    """The steps in Break's form, ``return flights ;return #1 from denver``."""
    logical_form: LogicalForm | None = None
    """The steps as operators with arguments; None if the text has no meaning, and ``error`` says why."""
    predicted_graph: DependencyGraph | None = None
    """The graph of a parser that predicts graphs; :attr:`graph` is there for the others, too."""
    score: float | None = None
    """The log probability that the parser gives it, minus penalties."""
    error: str | None = None
    candidates: tuple[Candidate, ...] = ()
    """The best decompositions that the parser found, this one first, if it was asked for them."""
    confidence: float | None = None
    """The probability that all of it is right, from 0 to 1, if the parser is calibrated."""
    margin: float | None = None
    """How much more probable than the next best the parser finds it, in nats, if known."""
    kind: float | None = None
    """How likely the question is of the first of the two kinds that the parser was calibrated on, if there are two."""
    question_id: str = ""
    answered: Answered | None = None
    """Which of several parsers answered, and what that took, if a language model is one of them."""

    @classmethod
    def of_text(cls, question: str, decomposition: str) -> Decomposition:
        """The decomposition for a text such as ``return flights ;return #1 from denver``, or in another form."""
        qdmr = read_decomposition(decomposition).qdmr
        return cls(question, with_whole_numbers(str(qdmr), question), to_logical_form(qdmr))

    def __bool__(self) -> bool:
        return self.text is not None

    def __str__(self) -> str:
        if not self:
            return f"no decomposition: {self.error}"
        return "\n".join(f"{number}. {text}" for number, text in enumerate(self.steps, start=1))

    def __repr__(self) -> str:
        question = str(self.question)
        shown = repr(question if len(question) <= 70 else f"{question[:69]}…")
        if not self:
            return f"<Decomposition of {shown}: none>"
        count = len(self.steps)
        confidence = "" if self.confidence is None else f", confidence {self.confidence:.2f}"
        return f"<Decomposition of {shown}: {count} {'step' if count == 1 else 'steps'}{confidence}>"

    @property
    def steps(self) -> tuple[str, ...]:
        """The texts of the steps, without ``return``."""
        if (qdmr := self.qdmr) is None:
            return ()
        return tuple(with_whole_numbers(step.text, self.question) for step in qdmr.steps)

    @property
    def qdmr(self) -> Qdmr | None:
        """The decomposition as a value; as text it is Break's form."""
        return None if self.text is None else parse_qdmr(self.text)

    @property
    def graph(self) -> DependencyGraph | None:
        """The dependency graph over the question's words: the parser's, or else that of the steps; None without one."""
        if self.predicted_graph is not None or self.logical_form is None:
            return self.predicted_graph
        return _graph_of_steps(self.question, self.logical_form)[0]

    @property
    def graph_error(self) -> str | None:
        """Why there is no graph."""
        if self.graph is not None:
            return None
        return _graph_of_steps(self.question, self.logical_form)[1] if self else self.error

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is odd about the steps, such as a comparison with nothing: ``PLAN_CHECKS`` has the checks."""
        try:
            return () if (qdmr := self.qdmr) is None else plan_warnings(self.question, qdmr)
        except QDecompError:  # the text cannot be read, and the error says why
            return ()

    def plan(self) -> Plan:
        """The steps in levels, with what their references stand for."""
        if (qdmr := self.qdmr) is None:
            raise DataError(f"there is no plan, as there is no decomposition: {self.error}")
        return plan_of_steps(qdmr.steps, self.logical_form, self.question, self.confidence)

    def with_steps(self, steps: str | Sequence[str]) -> Decomposition:
        """The question with other steps, as a text or a list of texts, which no parser has scored.

        >>> first = Decomposition.of_text("How many red cubes?", "return red cubes ;return number of #1")
        >>> print(first.with_steps(["cubes", "#1 that are red", "number of #2"]))
        1. cubes
        2. #1 that are red
        3. number of #2
        """
        text = read_decomposition(steps if isinstance(steps, str) else list(steps)).text
        return replace(Decomposition.of_text(self.question, text), question_id=self.question_id)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Decomposition:
        """What :meth:`to_dict` was called on; the same as :func:`decomposition_from_record`."""
        return decomposition_from_record(record)

    def to_dict(self) -> dict[str, Any]:
        """The prediction record with the warnings, for ``json.dumps``."""
        return self.to_record() | ({"warnings": list(self.warnings)} if self.warnings else {})

    def to_record(self) -> dict[str, Any]:
        """The prediction record, the same for every parser, which :func:`decomposition_from_record` reads."""
        form, graph, score = self.logical_form, self.predicted_graph, self.score
        record: dict[str, Any] = {
            "question_id": self.question_id,
            "question": self.question,
            "decomposition": self.text,
            "logical_form": None if form is None else [format_step(step) for step in form.steps],
            "graph": None if graph is None else dependency_graph_to_json(graph),
            # JSON has no infinity.
            "score": score if score is not None and math.isfinite(score) else None,
            "error": self.error,
        }
        if is_internal(self.error):
            record["internal_error"] = True
        if self.confidence is not None:
            record["confidence"] = self.confidence
        if self.candidates:
            record["candidates"] = [{"decomposition": each.text, "score": each.score} for each in self.candidates]
        if self.answered is not None:
            record["answered"] = asdict(self.answered)
        # With "?" for lone surrogates, which no encoding has.
        written: dict[str, Any] = json.loads(json.dumps(record, ensure_ascii=False).encode(errors="replace"))
        return written

    def _repr_html_(self) -> str:
        from qdecomp.visualization import decomposition_html

        return decomposition_html(self.question, self)


def decomposition_from_graph(
    question: str,
    graph: DependencyGraph,
    score: float | None = None,
    read: Callable[[DependencyGraph], LogicalForm] = logical_form_from_graph,
) -> Decomposition:
    """What a predicted graph says; one that means nothing gives no decomposition, and the reason.

    >>> decomposition_from_graph("red cubes", DependencyGraph(("red", "cubes"))).error
    'dependency graph: there is no edge'
    """
    try:
        form = read(graph)
        text = format_qdmr(to_qdmr(form))
    except QDecompError as error:
        return Decomposition(question, predicted_graph=graph, score=score, error=ErrorText.of(error))
    return Decomposition(question, text, form, graph, score)


def decomposition_from_decoded(question: str, decoded: Decoded) -> Decomposition:
    """What a decoded graph says; if other graphs were asked for, too, with a candidate for each text that they give."""
    found = decomposition_from_graph(question, decoded.graph, decoded.score, decoded.read)
    if not decoded.others or found.text is None:
        return found
    candidates = {found.text: decoded.score}
    for graph, score in decoded.others:
        text = decomposition_from_graph(question, graph).text
        if text is not None:
            candidates.setdefault(text, score)
    return replace(found, candidates=tuple(Candidate(*pair) for pair in candidates.items()))


def decomposition_from_text(question: str, text: str, score: float | None = None) -> Decomposition:
    """Read a predicted decomposition; the text is kept as it is, even if it has no logical form.

    >>> print(decomposition_from_text("How many rivers?", "return rivers ;return number of #1").logical_form)
    SELECT[](sub=rivers)
    AGGREGATE[count](arg=#1)
    """
    if not text.strip():
        return Decomposition(question, score=score, error="the decomposition is empty")
    try:
        return Decomposition(question, text, to_logical_form(parse_qdmr(text)), score=score)
    except QDecompError as error:
        return Decomposition(question, text, score=score, error=ErrorText.of(error))


def failed_decomposition(question: str, error: Exception | str) -> Decomposition:
    """The value for a question that has no decomposition."""
    text = ErrorText.of(error) if isinstance(error, QDecompError) else str(error)
    return Decomposition(question, error=text or type(error).__name__)


def decomposition_from_record(record: Mapping[str, Any]) -> Decomposition:
    """Read a prediction record; a form that the record lacks is derived from the one that it has.

    The decomposition may be in any form that :func:`~qdecomp.data_structures.reading.read_decomposition` reads. A
    record that cannot be read is a :class:`DataError`.

    >>> print(decomposition_from_record({"decomposition": "return rivers"}).logical_form)
    SELECT[](sub=rivers)
    """
    if not isinstance(record, Mapping):
        raise DataError(f"not a prediction record: an object is expected, not {type(record).__name__}")
    try:
        read = _read_record(record)
    except (QDecompError, TypeError, ValueError, KeyError, OverflowError) as reason:
        raise DataError(f"not a prediction record: {reason}") from None
    if read.logical_form is not None or read.error is not None:
        return read
    if read.text is not None:
        found = decomposition_from_text(read.question, read.text)
    elif read.predicted_graph is not None:
        found = decomposition_from_graph(read.question, read.predicted_graph)
    else:
        return replace(read, error="the record has neither a decomposition nor a graph")
    return replace(read, text=found.text, logical_form=found.logical_form, error=found.error)


def _read_record(record: Mapping[str, Any]) -> Decomposition:
    text, error, answered = (record.get(name) for name in ("decomposition", "error", "answered"))
    if text not in (None, ""):
        reading = read_decomposition(text)
        text, error = (reading.text, error) if reading.text else (None, error or reading.doubt)
    candidates = (
        Candidate(str(each["decomposition"]), _number(each, "score") or 0.0) for each in record.get("candidates") or ()
    )
    question, question_id = (
        value if isinstance(value := record.get(name), str) else "" for name in ("question", "question_id")
    )
    read = Decomposition(
        question,
        text,
        None if (steps := record.get("logical_form")) is None else parse_logical_form(steps),
        None if (graph := record.get("graph")) is None else dependency_graph_from_json(graph),
        _number(record, "score"),
        None if error is None else str(error),
        tuple(candidates),
        _number(record, "confidence"),
        question_id=question_id,
        answered=Answered(**answered) if isinstance(answered, dict) else None,
    )
    if read.logical_form is not None and read.text is not None:
        with suppress(QDecompError):  # a text that cannot be read is not compared with the form
            steps = len(parse_qdmr(read.text))
            if steps != len(read.logical_form):
                raise ValueError(f"the decomposition has {steps} steps, the logical form {len(read.logical_form)}")
    return read


def _number(values: Mapping[str, Any], name: str) -> float | None:
    if values.get(name) is None:
        return None
    value = float(values[name])
    if math.isnan(value):
        raise DataError(f"{name} is not a number")
    return value


@lru_cache(maxsize=256)
def _graph_of_steps(question: str, form: LogicalForm | None) -> tuple[DependencyGraph | None, str | None]:
    """The graph of these steps, or the reason why there is none."""
    if form is None:
        return None, "the steps have no logical form"
    try:
        with as_internal_errors():
            return convert(question, form).graph, None
    except QDecompError as error:
        return None, ErrorText.of(error)
