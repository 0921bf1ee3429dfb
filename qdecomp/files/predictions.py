"""Prediction files: records as JSON lines, a JSON array or Parquet, or a CSV with a column of decompositions."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.qdmr import Qdmr
from qdecomp.files.break_csv import ID_NAMES, BreakExample, first_of
from qdecomp.files.rows import FileKind, Row, RowFile
from qdecomp.files.store import RowStore

HOW_RECORDS_LOOK = 'a record is one line such as {"question_id": "…", "decomposition": "return …"}'
"""For messages."""

DECOMPOSITION_NAMES = ("decomposition", "prediction", "pred", "output", "generated")
"""The fields that may hold a system's decomposition."""

_WORD = re.compile(r"\w+")


class Answer(NamedTuple):
    """What a system wrote for a question: text, a list of steps or an object, or None if it wrote nothing.

    ``error`` says why the row cannot be used, and ``reason`` why the system wrote nothing, if it says so.
    """

    number: int
    question_id: str | None
    written: Any = None
    error: str | None = None
    reason: str | None = None


def read_answers(source: str | Path | Iterable[Any], column: str | None = None) -> tuple[bool, Iterator[Answer]]:
    """Whether the rows of a file or of a value name their questions, and what they say, lazily.

    A file may be JSON lines, a JSON array, a JSON object with decompositions by question id, a table, or plain text
    with a decomposition in each line; a value may be what these hold: records, decompositions, or either by id. Without
    a ``column``, the field of the decompositions is the first of :data:`DECOMPOSITION_NAMES` that is there.
    """
    if not isinstance(source, str | Path):
        return _answers_of_values(source, column)
    file = RowFile(source)
    if file.kind is FileKind.NOTHING:
        raise DataError(f"{source}: the file is empty; there are no predictions in it")
    if file.kind is FileKind.JSON_ARRAY:
        return _answers_of_values(file.members(), column)
    known = {*DECOMPOSITION_NAMES, *ID_NAMES, column}
    if not file.holds_objects:
        return _answers_of_table(file, column)
    is_unknown = file.kind is FileKind.JSON_LINES and known.isdisjoint(file.columns)
    if is_unknown and (by_id := file.one_object()) is not None:
        return _answers_of_values(by_id, column)
    rows = iter(file)
    begin: list[Row] = []
    for row in rows:
        begin.append(row)
        if row.error is None:
            break
    ids, name = first_of(ID_NAMES, begin[-1].fields), _name_of(begin[-1].fields, column, str(source))
    return ids is not None, (
        Answer(row.number, None, error=row.error) if row.error else _answer(row.number, row.fields, ids, name)
        for row in chain(begin, rows)
    )


def records_of(values: Any) -> Iterable[Any]:
    """The rows of a value, which may be a data frame."""
    records: Iterable[Any] = values.to_dict(orient="records") if hasattr(values, "iterrows") else values
    return records


def _name_of(fields: Iterable[str], column: str | None, source: str) -> str:
    """The field that holds the decompositions, by the fields of a row."""
    found = [name for name in DECOMPOSITION_NAMES if name in fields]
    if column is None and len(found) > 1:
        raise DataError(
            f"{source}: there is {found[0]} and {found[1]}; use --column NAME to say which one has the decompositions"
        )
    return column or next(iter(found), DECOMPOSITION_NAMES[0])


def _answer(number: int, record: Mapping[str, Any], ids: str | None, name: str) -> Answer:
    given = record.get(ids) if ids else None
    question_id = str(given).strip() if isinstance(given, str | int) else ""
    if ids and not question_id:
        return Answer(number, None, error=f"no {ids}")
    if name not in record:
        fields = ", ".join(map(str, record))
        message = f"no {name}; found fields: {fields}; use --column NAME to say which one has the decomposition"
        return Answer(number, question_id, error=message)
    return _checked(number, question_id or None, record[name], name)._replace(reason=record.get("error") or None)


def _checked(number: int, question_id: str | None, written: Any, name: str) -> Answer:
    """The answer, unless it is of a type that no decomposition has; a table's empty cell may be a NaN."""
    if isinstance(written, float) and isnan(written):
        written = None
    if written is None or isinstance(written, str | list | tuple | Mapping | Qdmr):
        return Answer(number, question_id, written)
    message = f"the {name} is a JSON {type(written).__name__}, not a string or a list of steps"
    return Answer(number, question_id, error=message)


def _answers_of_table(file: RowFile, column: str | None) -> tuple[bool, Iterator[Answer]]:
    name = _name_of(file.columns, column, file.name)
    ids = first_of(ID_NAMES, file.columns)
    if name not in file.columns:
        if file.kind is FileKind.OTHER and column is None and ids is None:
            return False, (Answer(row.number, None, row.fields["text"]) for row in file.texts("text"))
        found = ", ".join(cell[:40] for cell in file.columns[:12])
        raise DataError(
            f"{file.name}: neither prediction records nor a CSV with a column {name}; found columns: {found}; "
            f"use --column NAME to say which one has the decompositions; {HOW_RECORDS_LOOK}"
        )

    def answer(row: Row) -> Answer:
        error = row.error
        if error is None and len(row.fields) < len(file.columns):
            error = f"{len(row.fields)} cells, but the header has {len(file.columns)}; text with commas must be quoted"
        if error is not None:
            return Answer(row.number, row.fields.get(ids or ""), error=f"line {row.line}: {error}")
        return _answer(row.number, row.fields, ids, name)

    return ids is not None, map(answer, file)


def _answers_of_values(values: Any, column: str | None) -> tuple[bool, Iterator[Answer]]:
    """Answers by id in a mapping, or in a sequence of records or of decompositions."""
    what = column or DECOMPOSITION_NAMES[0]
    if isinstance(values, Mapping):
        return True, (
            _answer(number, {**value, "question_id": key}, "question_id", _name_of(value, column, "predictions"))
            if isinstance(value, Mapping) and not {*DECOMPOSITION_NAMES, column}.isdisjoint(value)
            else _checked(number, str(key), value, what)
            for number, (key, value) in enumerate(values.items(), start=1)
        )
    rows = [value.to_dict() if hasattr(value, "to_dict") else value for value in records_of(values)]
    first = next((row for row in rows if row is not None), None)
    if not isinstance(first, Mapping) or {*DECOMPOSITION_NAMES, *ID_NAMES, column}.isdisjoint(first):
        return False, (_checked(number, None, row, what) for number, row in enumerate(rows, start=1))
    ids, name = first_of(ID_NAMES, first), _name_of(first, column, "predictions")
    return ids is not None, (
        _answer(number, row, ids, name)
        if isinstance(row, Mapping)
        else Answer(number, None, error=f"a JSON {type(row).__name__}, not an object")
        for number, row in enumerate(rows, start=1)
    )


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


# The rows of a prediction file: the text of each question if it has one, and its record as JSON text.
_Answers = RowStore[tuple[str | None, str]]


def join_predictions(
    paths: Sequence[Path],
    texts: RowStore[BreakExample] | None = None,
    *,
    check: Callable[[Mapping[str, Any]], object] = dict,
) -> tuple[RowStore[JoinedQuestion], list[Path]]:
    """The questions of prediction files, each with what all of them say, and the files without predictions.

    They come in the order of the first file, followed by those that only other files have. ``texts`` has the questions
    by id, for files that do not. ``check`` raises a :class:`DataError` if a record cannot be used: better now than in
    the middle of the output. So does a row that cannot be read, a question whose text no file has, and one that is
    another in another file.
    """
    files = [_read(path, check) for path in paths]
    joined: RowStore[JoinedQuestion] = RowStore()
    for question_id in chain.from_iterable(file.ids() for file in files):
        if joined.find(question_id) is None:
            joined.append(_join(question_id, files, texts), question_id)
    if not len(joined):
        raise DataError(f"{paths[0]}: there are no predictions in it")
    return joined, [path for path, file in zip(paths, files, strict=True) if not len(file)]


def _join(question_id: str, files: Sequence[_Answers], texts: RowStore[BreakExample] | None) -> JoinedQuestion:
    rows = [None if (place := file.find(question_id)) is None else file[place] for file in files]
    found = [row[0] for row in rows if row is not None and row[0]]
    if texts is not None and (place := texts.find(question_id)) is not None:
        found.insert(0, texts[place].question)
    if not found:
        raise DataError(
            f"no file has the text of question {question_id}; give Break's CSV that has it with --questions"
        )
    other = next((text for text in found if _words(text) != _words(found[0])), None)
    if other is not None:
        raise DataError(
            f"question {question_id} is {found[0]!r} in one file and {other!r} in another; "
            "are these predictions for the same questions?"
        )
    return JoinedQuestion(question_id, found[0], tuple(None if row is None else row[1] for row in rows))


def _words(question: str) -> list[str]:
    """What is the same in a question, however a system spaces it or writes its capitals."""
    return _WORD.findall(question.casefold())


def _read(path: Path, check: Callable[[Mapping[str, Any]], object]) -> _Answers:
    rows: _Answers = RowStore()
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
