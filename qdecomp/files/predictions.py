"""Prediction files: records as JSON lines, a JSON array or Parquet, or a CSV with a column of decompositions."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qdecomp.data_structures.errors import DataError
from qdecomp.files.break_csv import BreakExample
from qdecomp.files.rows import FileKind, Row, RowFile
from qdecomp.files.store import RowStore

HOW_RECORDS_LOOK = 'a record is one line such as {"question_id": "…", "decomposition": "return …"}'
"""For messages."""

_WORD = re.compile(r"\w+")


def prediction_rows(path: str | Path, column: str = "decomposition") -> tuple[bool, Iterator[Row]]:
    """Whether the rows name their questions, and the rows, which are read lazily.

    The ``error`` of a row says why it cannot be used; the others have a decomposition, or null, in the field
    ``column`` and, if they name their questions, a ``question_id``.
    """
    file = RowFile(path)
    if file.kind is FileKind.NOTHING:
        raise DataError(f"{path}: the file is empty; there are no predictions in it")
    if file.holds_objects:
        return True, (row._replace(error=row.error or _wrong_object(row.fields, column)) for row in file)
    if column not in file.columns:
        found = ", ".join(cell[:40] for cell in file.columns[:12])
        raise DataError(
            f"{path}: neither prediction records nor a CSV with a column {column}; found columns: {found}; "
            f"use --column NAME to say which one has the decompositions; {HOW_RECORDS_LOOK}"
        )
    return "question_id" in file.columns, (_checked_cells(row, file.columns) for row in file)


def _wrong_object(record: Mapping[str, Any], column: str) -> str | None:
    question_id = record.get("question_id")
    if not isinstance(question_id, str) or not question_id.strip():
        return "no question_id"
    if column not in record:
        return (
            f"no {column}; found fields: {', '.join(record)}; use --column NAME to say which one has the decomposition"
        )
    if not isinstance(record[column], str | list | dict | None):
        return f"the {column} is a JSON {type(record[column]).__name__}, not a string or a list of steps"
    return None


def _checked_cells(row: Row, columns: Sequence[str]) -> Row:
    error = row.error
    if error is None and len(row.fields) < len(columns):
        error = f"{len(row.fields)} cells, but the header has {len(columns)}; text with commas must be quoted"
    if error is not None:
        return row._replace(error=f"line {row.line}: {error}")
    return row if row.fields.get("question_id", "x").strip() else row._replace(error="no question_id")


@dataclass(frozen=True, slots=True)
class JoinedQuestion:
    """A question, and the record of each system as JSON text; None where a system has no row for it."""

    question_id: str
    question: str
    records: tuple[str | None, ...]

    @property
    def fingerprint(self) -> str:
        """Changes when a record of the question does."""
        records = ", ".join("null" if record is None else record for record in self.records)
        content = f"[{json.dumps(self.question)}, [{records}]]"
        return hashlib.blake2b(content.encode(), digest_size=8).hexdigest()


# A row of a prediction file: the text of its question if it has one, and its record as JSON text.
_Answers = RowStore[tuple[str | None, str]]


class JoinedPredictions(Sequence[JoinedQuestion]):
    """The questions of several prediction files, any number of them in bounded memory.

    They come in the order of the first file, followed by those that only other files have.
    """

    def __init__(self, files: Sequence[_Answers], texts: RowStore[BreakExample] | None) -> None:
        self._files = files
        self._texts = texts
        self._ids: RowStore[str] = RowStore(str, str)
        self.empty: Sequence[Path] = ()
        """The files that have no predictions."""
        for file in files:
            for question_id in file.ids():
                if self._ids.find(question_id) is None:
                    self._ids.append(question_id, question_id)

    def __len__(self) -> int:
        return len(self._ids)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return tuple(map(self._joined, self._ids[place]))
        return self._joined(self._ids[place])

    def __iter__(self) -> Iterator[JoinedQuestion]:
        return map(self._joined, self._ids)

    def _joined(self, question_id: str) -> JoinedQuestion:
        rows = [None if (place := file.find(question_id)) is None else file[place] for file in self._files]
        texts = [row[0] for row in rows if row is not None and row[0]]
        place = None if self._texts is None else self._texts.find(question_id)
        if self._texts is not None and place is not None:
            texts.insert(0, self._texts[place].question)
        if not texts:
            raise DataError(
                f"no file has the text of question {question_id}; give Break's CSV that has it with --questions"
            )
        other = next((text for text in texts if _words(text) != _words(texts[0])), None)
        if other is not None:
            raise DataError(
                f"question {question_id} is {texts[0]!r} in one file and {other!r} in another; "
                "are these predictions for the same questions?"
            )
        return JoinedQuestion(question_id, texts[0], tuple(None if row is None else row[1] for row in rows))


def _words(question: str) -> list[str]:
    """What is the same in a question, however a system spaces it or writes its capitals."""
    return _WORD.findall(question.casefold())


def join_predictions(
    paths: Sequence[Path],
    texts: RowStore[BreakExample] | None = None,
    *,
    check: Callable[[Mapping[str, Any]], object] = dict,
) -> JoinedPredictions:
    """The questions of prediction files, each with what all of them say.

    ``texts`` has the questions by id, for files that do not. ``check`` raises a :class:`DataError` if a record cannot
    be used: better now than in the middle of the output. So does a row that cannot be read, a question whose text no
    file has, and one that is another in another file.
    """
    files = [_read(path, check) for path in paths]
    joined = JoinedPredictions(files, texts)
    if not len(joined):
        raise DataError(f"{paths[0]}: there are no predictions in it")
    joined.empty = [path for path, file in zip(paths, files, strict=True) if not len(file)]
    for _ in joined:
        pass
    return joined


def _read(path: Path, check: Callable[[Mapping[str, Any]], object]) -> _Answers:
    rows: _Answers = RowStore(list, tuple)
    file = RowFile(path)
    for row in file:
        if row.error is not None:
            raise DataError(f"{path}: row {row.number}: {row.error}")
        record = (
            row.fields if file.holds_objects else {name: cell for name, cell in row.fields.items() if name and cell}
        )
        question_id, question = record.get("question_id"), record.get("question")
        if not isinstance(question_id, str) or not question_id.strip():
            raise DataError(f"{path}: row {row.number} has no question_id, by which the files are matched")
        if rows.find(question_id) is not None:
            raise DataError(f"{path}: row {row.number} repeats the question_id of an earlier row: {question_id}")
        try:
            check(record)
        except DataError as error:
            raise DataError(f"{path}: question {question_id}: {error}") from None
        text = question if isinstance(question, str) else None
        rows.append((text, json.dumps(record, sort_keys=True)), question_id)
    return rows
