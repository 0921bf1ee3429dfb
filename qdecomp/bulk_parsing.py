"""The records of many questions, parsed here or by parsers that other machines load."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.prediction import Prediction, failed_prediction, prediction_to_record
from qdecomp.files.question_lines import QuestionRow
from qdecomp.parser import Parser, ParserSource
from qdecomp.terminal.processes import ROW_KILLED_WORKERS, Spread, in_chunks

__all__ = [
    "RemoteParser",
    "predict_on_worker",
    "question_records",
    "records_from_workers",
    "records_of_rows",
    "remote_parser",
]

# The threads of a worker take turns: not every parser can do two things at once, and none gets faster by it.
_TURN = threading.Lock()


@dataclass(frozen=True, slots=True)
class RemoteParser:
    """A parser that a worker opens itself; what it finds must be the requested parser."""

    source: ParserSource
    content: tuple[str, ...]
    is_bundled: bool

    def open(self) -> Parser:
        """Load the parser on this machine; a process keeps the one that it loaded last."""
        return _opened(self)


def remote_parser(parser: Parser) -> RemoteParser:
    """What workers need to know about a parser."""
    from qdecomp.runtime.bundle import BUNDLED

    source = parser.required_source()
    # Workers have other working folders.
    source = replace(source, path=source.path.resolve())
    return RemoteParser(source, tuple(source.content()), source.path == BUNDLED.resolve())


@lru_cache(maxsize=1)
def _opened(remote: RemoteParser) -> Parser:
    from qdecomp.runtime.bundle import BUNDLED

    # Every installation has the bundled parser in its own place.
    source = replace(remote.source, path=BUNDLED) if remote.is_bundled else remote.source
    if not source.path.exists():
        raise DataError(f"{source.path}: a worker does not have this parser; put it where all workers can read it")
    if tuple(source.content()) != remote.content:
        raise DataError(f"{source.path}: a worker has a different parser there; give all workers the same one")
    return Parser(source.path.name, source.open())


def predict_on_worker(remote: RemoteParser, questions: Sequence[str]) -> Sequence[Prediction]:
    """On a worker: the predictions of a batch."""
    with _TURN:
        return remote.open().predict(questions)


def records_of_rows(remote: RemoteParser, batch_size: int, rows: Sequence[QuestionRow]) -> list[dict[str, Any]]:
    """On a worker: the records of the rows that are parsed together."""
    with _TURN:
        return list(question_records(remote.open(), rows, batch_size))


def question_records(
    parser: Parser, rows: Iterable[QuestionRow], batch_size: int, processes: int = 1
) -> Iterator[dict[str, Any]]:
    """A record for each row, in order; the row of a file that cannot be read says so in its record."""
    answers = parser.pipe(
        ((row.question, row) for row in rows), batch_size=batch_size, as_tuples=True, processes=processes
    )
    for decomposition, row in answers:
        if row.error is None:
            yield replace(decomposition, question_id=row.question_id).to_dict()
        else:
            yield prediction_to_record(failed_prediction(row.error), row.question_id, row.question)


def records_from_workers(
    parser: Parser, rows: Iterable[QuestionRow], batch_size: int, spread: Spread
) -> Iterator[dict[str, Any]]:
    """A record for each row, in order, from workers on other machines.

    A partition is what :meth:`Parser.pipe` takes at a time, so that every batch is the same as here.
    """
    windows = in_chunks(rows, parser.window(batch_size))
    work = partial(records_of_rows, remote_parser(parser), batch_size)
    for records in spread(work, windows, _died_record):
        yield from records


def _died_record(row: QuestionRow) -> dict[str, Any]:
    """The record of a question that no worker survives."""
    return prediction_to_record(failed_prediction(ROW_KILLED_WORKERS), row.question_id, row.question)
