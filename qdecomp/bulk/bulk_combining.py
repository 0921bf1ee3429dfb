"""The consensus records of many questions, made here, in other processes or on a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from qdecomp.data_structures.errors import QDecompError, as_internal_errors
from qdecomp.files.readers.joined_predictions import JoinedQuestion
from qdecomp.files.records.record_lines import RecordLine, format_record
from qdecomp.parsers.consensus import consensus
from qdecomp.parsers.decomposition import Decomposition, failed_decomposition
from qdecomp.workers.processes import ROW_KILLED_WORKERS, Spread, in_chunks, in_processes

__all__ = ["CombiningOutcome", "consensus_key", "consensus_lines"]

_QUESTIONS_A_TASK = 100


class CombiningOutcome(NamedTuple):
    """What is counted about a question."""

    has_failed: bool

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> CombiningOutcome:
        """The outcome that a record tells of."""
        return cls(record["decomposition"] is None)


def consensus_key(settings: str, question: JoinedQuestion) -> str:
    """What the record of a question depends on: if any of it changes, the key does."""
    return f"{question.fingerprint} {settings}"


def consensus_lines(
    questions: Iterable[JoinedQuestion],
    weights: Sequence[float],
    settings: str,
    processes: int = 1,
    spread: Spread | None = None,
) -> Iterator[RecordLine]:
    """The line of each question's record, in order."""
    work = partial(_lines, weights=tuple(weights), settings=settings)
    tasks = in_chunks(questions, _QUESTIONS_A_TASK)
    if spread is not None:
        return chain.from_iterable(spread(work, tasks, partial(_died_line, settings=settings)))
    return chain.from_iterable(in_processes(work, tasks, processes) if processes > 1 else map(work, tasks))


def _lines(questions: Sequence[JoinedQuestion], weights: Sequence[float], settings: str) -> list[RecordLine]:
    return [_line(question, _answer(question, weights), settings) for question in questions]


def _answer(question: JoinedQuestion, weights: Sequence[float]) -> Decomposition:
    try:
        with as_internal_errors():
            return consensus(question.question, question.predictions, weights)
    except QDecompError as error:
        return failed_decomposition(question.question, error)


def _line(question: JoinedQuestion, answer: Decomposition, settings: str) -> RecordLine:
    record = replace(answer, question_id=question.question_id, question=question.question).to_record()
    keyed = {**record, "key": consensus_key(settings, question)}
    return RecordLine(format_record(keyed), CombiningOutcome.of(record))


def _died_line(question: JoinedQuestion, settings: str) -> RecordLine:
    """The line of a question that no worker survives."""
    return _line(question, failed_decomposition(question.question, ROW_KILLED_WORKERS), settings)
