"""Prediction files of several systems, question by question, for their consensus."""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from qdecomp.data_structures.errors import DataError
from qdecomp.files.readers.file_kinds import FileKind, kind_of_file
from qdecomp.files.readers.file_rows import table_rows
from qdecomp.files.readers.text_files import read_json_lines
from qdecomp.files.row_store.rows_by_id import RowsById
from qdecomp.parsers.decomposition import Decomposition, decomposition_from_record, failed_decomposition

__all__ = ["JoinedPredictions", "JoinedQuestion", "join_predictions"]

_NO_ROW = "the system has no row for this question"


@dataclass(frozen=True, slots=True)
class JoinedQuestion:
    """A question, and the record of each system as JSON text; None where a system has no row for it."""

    question_id: str
    question: str
    records: tuple[str | None, ...]

    @property
    def predictions(self) -> tuple[Decomposition, ...]:
        """What each system says."""
        return tuple(
            failed_decomposition(self.question, _NO_ROW)
            if record is None
            else decomposition_from_record(json.loads(record))
            for record in self.records
        )

    @property
    def fingerprint(self) -> str:
        """Changes when a record of the question does."""
        records = ", ".join("null" if record is None else record for record in self.records)
        content = f"[{json.dumps(self.question)}, [{records}]]"
        return hashlib.blake2b(content.encode(), digest_size=8).hexdigest()


class _Row(NamedTuple):
    number: int
    question: str | None
    record: str


class JoinedPredictions:
    """The questions of several files, any number of them in bounded memory.

    They come in the order of the first file, followed by those that only other files have.
    """

    def __init__(self, files: Sequence[RowsById[_Row]], questions: RowsById[str]) -> None:
        self._files = files
        self._questions = questions
        # The places of the questions that no file before has, file by file.
        self._new = [array("Q", self._new_places(number)) for number in range(len(files))]

    def __len__(self) -> int:
        return sum(map(len, self._new))

    def __iter__(self) -> Iterator[JoinedQuestion]:
        return self.rest(0)

    def rest(self, start: int) -> Iterator[JoinedQuestion]:
        """The questions without the first ones."""
        for file, places in zip(self._files, self._new, strict=True):
            for place in places[start:]:
                yield self._joined(file[place][0])
            start = max(0, start - len(places))

    def require_texts(self) -> None:
        """Raise if no file has the text of a question."""
        for _ in self:
            pass

    def _new_places(self, number: int) -> Iterator[int]:
        file, before = self._files[number], self._files[:number]
        for place in range(len(file)):
            question_id = file[place][0]
            if all(earlier.find(question_id) is None for earlier in before):
                yield place

    def _joined(self, question_id: str) -> JoinedQuestion:
        rows = [file.find(question_id) for file in self._files]
        given = self._questions.find(question_id)
        question = given or next((row.question for row in rows if row is not None and row.question), None)
        if question is None:
            raise DataError(
                f"no file has the text of question {question_id}; give Break's CSV that has it with --questions"
            )
        return JoinedQuestion(question_id, question, tuple(None if row is None else row.record for row in rows))


def join_predictions(paths: Sequence[Path], questions: RowsById[str] | None = None) -> JoinedPredictions:
    """The questions of prediction files, each with what all of them say.

    ``questions`` are the texts of questions by id, for files that have none. A row that cannot be read, and a question
    whose text no file has, are a :class:`DataError`.
    """
    joined = JoinedPredictions([_read(path) for path in paths], questions or RowsById())
    if not len(joined):
        raise DataError(f"{paths[0]}: there are no predictions in it")
    joined.require_texts()
    return joined


def _read(path: Path) -> RowsById[_Row]:
    rows = RowsById(_rows(path))
    if (repetition := rows.first_repetition()) is not None:
        question_id, row = rows[repetition[1]]
        raise DataError(f"{path}: row {row.number} repeats the question_id of an earlier row: {question_id}")
    return rows


def _rows(path: Path) -> Iterator[tuple[str, _Row]]:
    is_csv = kind_of_file(path) is FileKind.CSV
    for number, record in _csv_records(path) if is_csv else read_json_lines(path):
        question_id = record.get("question_id") if isinstance(record, dict) else None
        if not isinstance(question_id, str) or not question_id.strip():
            raise DataError(f"{path}: row {number} has no question_id, by which the files are matched")
        try:
            # Better now than in the middle of the output.
            decomposition_from_record(record)
        except DataError as error:
            raise DataError(f"{path}: question {question_id}: {error}") from None
        question = record.get("question")
        text = question if isinstance(question, str) else None
        yield question_id, _Row(number, text, json.dumps(record, sort_keys=True))


def _csv_records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for row in table_rows(path)[1]:
        if row.error is not None:
            raise DataError(f"{path}: row {row.number}: {row.error}")
        yield row.number, {name: value for name, value in row.fields.items() if name and value}
