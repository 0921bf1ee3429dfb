"""The records of many questions, parsed here or by parsers that other machines load."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from qdecomp.files.readers.question_lines import QuestionRow
from qdecomp.files.records.record_lines import RecordLine, format_record
from qdecomp.parsers.decomposition import Decomposition, failed_decomposition
from qdecomp.parsers.length_batches import in_length_batches
from qdecomp.parsers.parser import Parser
from qdecomp.parsers.remote_parser import RemoteParser, predict_on_worker, remote_parser, taking_turns
from qdecomp.workers.processes import ROW_KILLED_WORKERS, Spread, in_chunks, in_processes

__all__ = [
    "ParsingOutcome",
    "question_key",
    "question_lines",
    "question_records",
]


class ParsingOutcome(NamedTuple):
    """What is counted about a question."""

    has_failed: bool
    is_mistake: bool

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> ParsingOutcome:
        """The outcome that a record tells of."""
        return cls(record["decomposition"] is None, "internal_error" in record)


def question_records(
    parser: Parser, rows: Iterable[QuestionRow], batch_size: int, processes: int = 1
) -> Iterator[dict[str, Any]]:
    """A record for each row, in order; the row of a file that cannot be read says so in its record."""
    return (record for _, record in _rows_with_records(parser, rows, batch_size, processes))


def question_lines(
    parser: Parser,
    rows: Iterable[QuestionRow],
    settings: str,
    batch_size: int,
    processes: int = 1,
    spread: Spread | None = None,
) -> Iterator[RecordLine]:
    """The line of each row's record, in order, made here, in other processes or by workers on other machines.

    A partition for other machines is what :meth:`Parser.pipe` takes at a time, so that every batch is the same as here.
    """
    if spread is not None:
        work = partial(_lines_on_worker, remote_parser(parser.required_source()), settings, batch_size)
        windows = in_chunks(rows, parser.window(batch_size))
        return chain.from_iterable(spread(work, windows, partial(_died_line, settings)))
    if processes == 1:
        return (_line(settings, *each) for each in _rows_with_records(parser, rows, batch_size))
    work_on_batch = partial(_lines_of_batch, remote_parser(parser.required_source()), settings)
    answers = in_length_batches(rows, _length, batch_size, partial(in_processes, work_on_batch, processes=processes))
    return (line for _, line in answers)


def question_key(settings: str, row: QuestionRow) -> str:
    """What the record of a row depends on: if any of it changes, the key does."""
    return hashlib.blake2b(json.dumps([settings, *row]).encode(), digest_size=8).hexdigest()


def _rows_with_records(
    parser: Parser, rows: Iterable[QuestionRow], batch_size: int, processes: int = 1
) -> Iterator[tuple[QuestionRow, dict[str, Any]]]:
    answers = parser.pipe(
        ((row.question, row) for row in rows), batch_size=batch_size, as_tuples=True, processes=processes
    )
    return ((row, _record(row, decomposition)) for decomposition, row in answers)


def _record(row: QuestionRow, decomposition: Decomposition) -> dict[str, Any]:
    if row.error is None:
        return replace(decomposition, question_id=row.question_id).to_dict()
    return _failed_record(row, row.error)


def _failed_record(row: QuestionRow, error: str) -> dict[str, Any]:
    return replace(failed_decomposition(row.question, error), question_id=row.question_id).to_record()


def _line(settings: str, row: QuestionRow, record: Mapping[str, Any]) -> RecordLine:
    return RecordLine(format_record({**record, "key": question_key(settings, row)}), ParsingOutcome.of(record))


def _lines_on_worker(
    remote: RemoteParser, settings: str, batch_size: int, rows: Sequence[QuestionRow]
) -> list[RecordLine]:
    """On a worker: the lines of the rows that are parsed together."""
    with taking_turns():
        parser = Parser(remote.source.path.name, remote.open())
        return list(question_lines(parser, rows, settings, batch_size))


def _lines_of_batch(remote: RemoteParser, settings: str, rows: Sequence[QuestionRow]) -> list[RecordLine]:
    """In another process: the lines of a batch."""
    answers = predict_on_worker(remote, [row.question for row in rows])
    return [_line(settings, row, _record(row, answer)) for row, answer in zip(rows, answers, strict=True)]


def _length(row: QuestionRow) -> int:
    return len(row.question)


def _died_line(settings: str, row: QuestionRow) -> RecordLine:
    """The line of a question that no worker survives."""
    return _line(settings, row, _failed_record(row, ROW_KILLED_WORKERS))
