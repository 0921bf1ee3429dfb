"""Gold decompositions, predictions from a file, and which belongs to which.

Predictions are prediction records (JSON lines, matched by ``question_id``) or a CSV with a ``decomposition``
column, matched by its ``question_id`` column or, as on Break's leaderboard, by the order of the gold file. Rows
that cannot be used are told by number; a question without a usable row counts as wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from qdecomp.data_structures.errors import DataError, QdmrSyntaxError
from qdecomp.data_structures.reading import Reading, read_decomposition
from qdecomp.data_structures.tokenization import has_half_character
from qdecomp.files import BreakExample, open_text, read_break_csv, text_suffix, try_json_lines
from qdecomp.files.csv_rows import CsvRow, read_table

__all__ = [
    "Gold",
    "PredictionRow",
    "ProblemKind",
    "RowProblem",
    "SystemPredictions",
    "name_systems",
    "read_gold",
    "read_predictions",
]

_JSON_SUFFIXES = frozenset({".json", ".jsonl", ".ndjson"})
_HOW_RECORDS_LOOK = 'a record is one line such as {"question_id": "…", "decomposition": "return …"}'


class ProblemKind(str, Enum):
    """What can be wrong with a row of a gold or prediction file."""

    MISSING = "missing"
    EXTRA = "extra"
    DUPLICATE = "duplicate"
    MALFORMED = "malformed"
    EMPTY = "empty"
    HALF_CHARACTER = "odd"
    NO_GOLD = "no gold"

    def __str__(self) -> str:
        return self.value

    @property
    def in_gold(self) -> bool:
        """Whether the row that is named is one of the gold file."""
        return self in (ProblemKind.MISSING, ProblemKind.NO_GOLD)


@dataclass(frozen=True, slots=True)
class RowProblem:
    """A row, counted from 1, that is not as it should be; ``kind.in_gold`` says in which file."""

    kind: ProblemKind
    row: int
    question_id: str | None
    message: str


@dataclass(frozen=True, slots=True)
class Gold:
    """The questions to score on, in the order of their file; ids are unique."""

    path: Path
    examples: tuple[BreakExample, ...]
    problems: tuple[RowProblem, ...] = ()


@dataclass(frozen=True, slots=True)
class PredictionRow:
    """What a system answered to a question; where ``text`` is None, ``reason`` says why there is none."""

    text: str | None
    reason: str | None = None
    reading: Reading | None = field(default=None, compare=False)
    """How the text was found in what the file has."""


@dataclass(frozen=True, slots=True)
class SystemPredictions:
    """A prediction file: one prediction for every gold question, in the gold file's order."""

    name: str
    path: Path
    rows: int
    predictions: tuple[PredictionRow, ...]
    problems: tuple[RowProblem, ...] = ()

    @property
    def readings(self) -> list[Reading]:
        """How each prediction was read."""
        return [each.reading for each in self.predictions if each.reading is not None]


@dataclass(frozen=True, slots=True)
class _Row:
    number: int
    question_id: str | None
    decomposition: Any
    error: str | None = None


def read_gold(path: str | Path) -> Gold:
    """Read Break's CSV for scoring; every question needs an id of its own, and there must be decompositions."""
    examples = tuple(read_break_csv(path))
    if not examples:
        raise DataError(f"{path}: there is no question in it")
    first_rows: dict[str, int] = {}
    for example in examples:
        if not example.question_id:
            wrong = f": {example.error}" if example.error is not None else " has no question_id"
            raise DataError(f"{path}: row {example.row}{wrong}")
        first = first_rows.setdefault(example.question_id, example.row)
        if first != example.row:
            raise DataError(f"{path}: row {example.row} has the question_id of row {first}: {example.question_id}")
    without = [example for example in examples if example.decomposition is None]
    if len(without) == len(examples):
        raise DataError(f"{path}: no row has a decomposition; give a file with gold in the column decomposition")
    problems = tuple(
        RowProblem(
            ProblemKind.NO_GOLD,
            example.row,
            example.question_id,
            f"{example.error or 'no gold decomposition'}; counts as wrong",
        )
        for example in without
    )
    return Gold(Path(path), examples, problems)


def name_systems(options: Iterable[str]) -> list[tuple[str, Path]]:
    """The names and files of prediction options, each ``NAME=FILE`` or only a file, which is named after itself.

    >>> [name for name, path in name_systems(["out/biaffine.jsonl", "CopyNet=out/copynet.csv"])]
    ['biaffine', 'CopyNet']
    """
    named: dict[str, Path] = {}
    for option in options:
        name, equals, file = option.partition("=")
        if not equals or Path(option).exists():
            name, file = Path(option).stem, option
        name = name.strip()
        if not name or not file:
            raise DataError(f"{option!r}: give predictions as FILE or NAME=FILE")
        if name in named:
            raise DataError(f"two prediction files are called {name!r}; name them apart with NAME=FILE")
        named[name] = Path(file)
    return list(named.items())


def read_predictions(
    path: str | Path, gold: Gold, name: str | None = None, *, column: str = "decomposition"
) -> SystemPredictions:
    """Read a prediction file of either format and match its rows with the gold questions.

    ``column`` names the column or field that has the decompositions.
    """
    path = Path(path)
    rows: list[_Row | RowProblem] = list(_json_rows(path, column) if _holds_json(path) else _csv_rows(path, column))
    _require_usable(path, rows)
    by_order = not any(isinstance(row, _Row) and row.question_id is not None for row in rows)
    predictions, problems = _match_by_order(path, rows, gold) if by_order else _match_by_id(path, rows, gold)
    return SystemPredictions(name or path.stem, path, len(rows), tuple(predictions), tuple(problems))


def _holds_json(path: Path) -> bool:
    with open_text(path) as stream:
        start = next((line.lstrip() for line in stream if line.strip()), "")
    if not start:
        raise DataError(f"{path}: the file is empty; there are no predictions in it")
    if start.startswith("["):
        raise DataError(f"{path}: this is a JSON array; write its members as JSON lines; {_HOW_RECORDS_LOOK}")
    return text_suffix(path) in _JSON_SUFFIXES or start.startswith("{")


def _json_rows(path: Path, column: str) -> Iterator[_Row | RowProblem]:
    for number, value in try_json_lines(path):
        if isinstance(value, DataError):
            yield RowProblem(ProblemKind.MALFORMED, number, None, "not JSON")
        elif (wrong := _what_is_wrong(value, column)) is not None:
            question_id = value.get("question_id") if isinstance(value, dict) else None
            known_id = question_id if isinstance(question_id, str) else None
            yield RowProblem(ProblemKind.MALFORMED, number, known_id, wrong)
        else:
            error = value.get("error")
            yield _Row(number, value["question_id"].strip(), value[column], error and str(error))


def _what_is_wrong(record: Any, column: str) -> str | None:
    if not isinstance(record, dict):
        return f"a JSON {type(record).__name__}, not an object"
    question_id = record.get("question_id")
    if not isinstance(question_id, str) or not question_id.strip():
        return "no question_id"
    if column not in record:
        return f"no {column}; found fields: {', '.join(record)}; --column NAME says which one has the decomposition"
    if not isinstance(record[column], str | list | dict | None):
        return f"the {column} is a JSON {type(record[column]).__name__}, not a text or a list of steps"
    return None


def _csv_rows(path: Path, column: str) -> Iterator[_Row | RowProblem]:
    header, rows = read_table(path)
    if column not in header:
        found = ", ".join(cell[:40] for cell in header[:12])
        raise DataError(
            f"{path}: neither prediction records nor a CSV with a column {column}; found columns: {found}; "
            f"--column NAME says which one has the decompositions; {_HOW_RECORDS_LOOK}"
        )
    for number, row in enumerate(_without_blank_lines(rows, len(header)), start=1):
        yield _csv_row(number, header, row, column)


def _without_blank_lines(rows: Iterable[CsvRow], width: int) -> Iterator[CsvRow]:
    """Leave out blank lines; in a file of one column a blank line before others is an empty prediction."""
    blank: list[CsvRow] = []
    for row in rows:
        if row.cells:
            yield from (empty._replace(cells=[""]) for empty in blank)
            yield row
            blank = []
        elif width == 1:
            blank.append(row)


def _csv_row(number: int, columns: Sequence[str], csv_row: CsvRow, column: str) -> _Row | RowProblem:
    cells = csv_row.cells
    if csv_row.error is not None:
        known_id = dict(zip(columns, cells, strict=False)).get("question_id", "").strip() or None
        return RowProblem(ProblemKind.MALFORMED, number, known_id, f"line {csv_row.line}: {csv_row.error}")
    if len(cells) != len(columns):
        message = f"{len(cells)} cells, but the header has {len(columns)}; text with commas must be quoted"
        return RowProblem(ProblemKind.MALFORMED, number, None, message)
    row = dict(zip(columns, cells, strict=True))
    if "question_id" in row and not row["question_id"].strip():
        return RowProblem(ProblemKind.MALFORMED, number, None, "no question_id")
    question_id = row["question_id"].strip() if "question_id" in row else None
    return _Row(number, question_id, row[column], row.get("error") or None)


def _require_usable(path: Path, rows: Sequence[_Row | RowProblem]) -> None:
    if not rows:
        raise DataError(f"{path}: there are no predictions in it, only a header")
    problems = [row for row in rows if isinstance(row, RowProblem)]
    if len(problems) == len(rows):
        first = problems[0]
        hint = f"; {_HOW_RECORDS_LOOK}" if _holds_json(path) else ""
        raise DataError(f"{path}: no row can be used; row {first.row}: {first.message}{hint}")


def _match_by_order(
    path: Path, rows: Sequence[_Row | RowProblem], gold: Gold
) -> tuple[list[PredictionRow], list[RowProblem]]:
    if len(rows) != len(gold.examples):
        raise DataError(
            f"{path}: {len(rows):,} rows, but {gold.path} has {len(gold.examples):,} questions; without a column "
            "question_id rows are matched by order, so every question needs one"
        )
    predictions: list[PredictionRow] = []
    problems: list[RowProblem] = []
    for row, example in zip(rows, gold.examples, strict=True):
        if isinstance(row, RowProblem):
            problems.append(RowProblem(row.kind, row.row, example.question_id, row.message))
            predictions.append(PredictionRow(None, "prediction: malformed row"))
        else:
            predictions.append(_prediction_of(row, example.question_id, problems))
    return predictions, problems


def _match_by_id(
    path: Path, rows: Sequence[_Row | RowProblem], gold: Gold
) -> tuple[list[PredictionRow], list[RowProblem]]:
    known = {example.question_id for example in gold.examples}
    found: dict[str, PredictionRow] = {}
    first_rows: dict[str, int] = {}
    problems: list[RowProblem] = []
    for row in rows:
        if isinstance(row, RowProblem):
            problems.append(row)
            continue
        question_id = row.question_id or ""
        if question_id not in known:
            problems.append(RowProblem(ProblemKind.EXTRA, row.number, question_id, "not a question of the gold file"))
        elif question_id in found:
            message = f"the question of row {first_rows[question_id]} again; the first counts"
            problems.append(RowProblem(ProblemKind.DUPLICATE, row.number, question_id, message))
        else:
            first_rows[question_id] = row.number
            found[question_id] = _prediction_of(row, question_id, problems)
    if not found:
        raise DataError(f"{path}: none of its questions is in {gold.path}; are these the right files?")
    absent = [example for example in gold.examples if example.question_id not in found]
    problems.extend(
        RowProblem(ProblemKind.MISSING, example.row, example.question_id, "no prediction for it; counts as wrong")
        for example in absent
    )
    missing = PredictionRow(None, "prediction: missing")
    return [found.get(example.question_id, missing) for example in gold.examples], problems


def _prediction_of(row: _Row, question_id: str, problems: list[RowProblem]) -> PredictionRow:
    written = row.decomposition
    if written and not (isinstance(written, str) and written.isspace()):
        try:
            reading = read_decomposition(written)
        except QdmrSyntaxError as error:
            problems.append(RowProblem(ProblemKind.MALFORMED, row.number, question_id, f"{error}; counts as wrong"))
            return PredictionRow(None, f"prediction: {error}")
        if has_half_character(reading.text):
            message = "half of a character (a lone surrogate); scored, and written as an escape such as \\ud800"
            problems.append(RowProblem(ProblemKind.HALF_CHARACTER, row.number, question_id, message))
        return PredictionRow(reading.text, reading=reading)
    why = f" ({row.error})" if row.error else ""
    problems.append(RowProblem(ProblemKind.EMPTY, row.number, question_id, f"no decomposition{why}; counts as wrong"))
    return PredictionRow(None, f"prediction: no decomposition{why}")
