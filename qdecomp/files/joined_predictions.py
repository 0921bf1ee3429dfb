"""Prediction files of several systems, question by question, for their consensus."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.prediction import Prediction, failed_prediction, prediction_from_record

from .csv_rows import read_table
from .text_files import read_json_lines, text_suffix

__all__ = ["JoinedQuestion", "join_predictions"]

_NO_ROW = "the system has no row for this question"


@dataclass(frozen=True, slots=True)
class JoinedQuestion:
    """A question, and what each system says about it."""

    question_id: str
    question: str
    predictions: tuple[Prediction, ...]
    fingerprint: str
    """Changes when a record of it does."""


def join_predictions(paths: Sequence[Path], questions: Mapping[str, str]) -> list[JoinedQuestion]:
    """The questions in the order of the first file, followed by those that only other files have.

    ``questions`` are the texts of questions by id, for files that have none. A row that cannot be read, and a question
    whose text no file has, are a :class:`DataError`.
    """
    files = [dict(_records(path)) for path in paths]
    ids = dict.fromkeys(question_id for records in files for question_id in records)
    if not ids:
        raise DataError(f"{paths[0]}: there are no predictions in it")
    return [_joined(question_id, paths, files, questions.get(question_id)) for question_id in ids]


def _joined(
    question_id: str, paths: Sequence[Path], files: Sequence[Mapping[str, Mapping[str, Any]]], question: str | None
) -> JoinedQuestion:
    records = [records.get(question_id) for records in files]
    texts = (record.get("question") for record in records if record is not None)
    question = question or next((text for text in texts if isinstance(text, str) and text), None)
    if question is None:
        raise DataError(
            f"no file has the text of question {question_id}; give Break's CSV that has it with --questions"
        )
    predictions = []
    for path, record in zip(paths, records, strict=True):
        try:
            predictions.append(failed_prediction(_NO_ROW) if record is None else prediction_from_record(record))
        except DataError as error:
            raise DataError(f"{path}: question {question_id}: {error}") from None
    content = json.dumps([question, records], sort_keys=True)
    fingerprint = hashlib.blake2b(content.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return JoinedQuestion(question_id, question, tuple(predictions), fingerprint)


def _records(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    seen: set[str] = set()
    for number, record in _csv_records(path) if text_suffix(path) == ".csv" else read_json_lines(path):
        question_id = record.get("question_id") if isinstance(record, dict) else None
        if not isinstance(question_id, str) or not question_id.strip():
            raise DataError(f"{path}: row {number} has no question_id, by which the files are matched")
        if question_id in seen:
            raise DataError(f"{path}: row {number} repeats the question_id of an earlier row: {question_id}")
        seen.add(question_id)
        yield question_id, record


def _csv_records(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    columns, rows = read_table(path)
    for number, row in enumerate((row for row in rows if not row.is_blank), start=1):
        if row.error is not None:
            raise DataError(f"{path}: row {number}: line {row.line}: {row.error}")
        yield number, {name: value for name, value in zip(columns, row.cells, strict=False) if name and value}
