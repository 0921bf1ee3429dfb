"""The consensus records of many questions, made here, in other processes or on a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any

from qdecomp.data_structures.errors import QDecompError
from qdecomp.data_structures.mistakes import as_row_errors
from qdecomp.data_structures.prediction import failed_prediction, prediction_to_record
from qdecomp.decoding.consensus import consensus
from qdecomp.files.joined_predictions import JoinedQuestion
from qdecomp.terminal.processes import ROW_KILLED_WORKERS, Spread, in_chunks, in_processes

__all__ = ["consensus_records"]

_QUESTIONS_A_TASK = 100


def consensus_records(
    questions: Sequence[JoinedQuestion], weights: Sequence[float], processes: int = 1, spread: Spread | None = None
) -> Iterator[dict[str, Any]]:
    """A record for each question, in order."""
    work = partial(_records, weights=tuple(weights))
    tasks = in_chunks(questions, _QUESTIONS_A_TASK)
    if spread is not None:
        return chain.from_iterable(spread(work, tasks, _died_record))
    if processes > 1:
        return chain.from_iterable(in_processes(work, tasks, processes))
    return (_record(question, weights) for question in questions)


def _records(questions: Sequence[JoinedQuestion], weights: Sequence[float]) -> list[dict[str, Any]]:
    return [_record(question, weights) for question in questions]


def _record(question: JoinedQuestion, weights: Sequence[float]) -> dict[str, Any]:
    try:
        with as_row_errors():
            answer = consensus(question.question, question.predictions, weights)
    except QDecompError as error:
        answer = failed_prediction(error)
    return prediction_to_record(answer, question.question_id, question.question)


def _died_record(question: JoinedQuestion) -> dict[str, Any]:
    """The record of a question that no worker survives."""
    return prediction_to_record(failed_prediction(ROW_KILLED_WORKERS), question.question_id, question.question)
