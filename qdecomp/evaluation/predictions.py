"""Gold decompositions, predictions from a file, and which belongs to which.

Predictions are prediction records, matched by ``question_id``, or a CSV with a ``decomposition`` column, matched by its
``question_id`` column or, as on Break's leaderboard, by the order of the gold file. Rows that cannot be used are
reported by number; a question without a usable row counts as wrong.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from qdecomp.data_structures.errors import DataError, QdmrSyntaxError
from qdecomp.data_structures.operators import TextEnum
from qdecomp.data_structures.reading import Reading, read_decomposition
from qdecomp.data_structures.tokenization import has_half_character
from qdecomp.files.break_csv import BreakExample, example_store, iterate_break_csv
from qdecomp.files.predictions import HOW_RECORDS_LOOK, prediction_rows
from qdecomp.files.rows import Row
from qdecomp.files.store import RowStore


class ProblemKind(TextEnum):
    """What can be wrong with a row of a gold or prediction file."""

    MISSING = "missing"
    EXTRA = "extra"
    DUPLICATE = "duplicate"
    MALFORMED = "malformed"
    EMPTY = "empty"
    HALF_CHARACTER = "odd"
    NO_GOLD = "no gold"

    @property
    def in_gold(self) -> bool:
        """Whether the row is in the gold file."""
        return self in (ProblemKind.MISSING, ProblemKind.NO_GOLD)


@dataclass(frozen=True, slots=True)
class RowProblem:
    """A row with a problem, counted from 1; ``kind.in_gold`` says in which file."""

    kind: ProblemKind
    row: int
    question_id: str | None
    message: str


@dataclass(frozen=True, slots=True)
class Gold:
    """The questions to score on, in the order of their file; ids are unique."""

    path: Path
    examples: RowStore[BreakExample]
    problems: Sequence[RowProblem] = ()


@dataclass(frozen=True, slots=True)
class PredictionRow:
    """What a system answered to a question; if ``text`` is None, ``reason`` says why."""

    text: str | None
    reason: str | None = None
    reading: Reading | None = field(default=None, compare=False)
    """How the text was found in the file."""


@dataclass(frozen=True, slots=True)
class SystemPredictions:
    """A prediction file: one prediction for every gold question, in the gold file's order."""

    name: str
    path: Path
    rows: int
    predictions: Sequence[PredictionRow]
    problems: Sequence[RowProblem] = ()

    @property
    def readings(self) -> Iterator[Reading]:
        """How each prediction was read."""
        return (each.reading for each in self.predictions if each.reading is not None)


def read_gold(path: str | Path) -> Gold:
    """Read Break's CSV for scoring; every question needs a unique id, and there must be decompositions."""
    examples = example_store()
    problems: list[RowProblem] = []
    for example in iterate_break_csv(path):
        if not example.question_id:
            reason = f": {example.error}" if example.error is not None else " has no question_id"
            raise DataError(f"{path}: row {example.row}{reason}")
        first = examples.find(example.question_id)
        if first is not None:
            row = examples[first].row
            raise DataError(f"{path}: row {example.row} has the question_id of row {row}: {example.question_id}")
        examples.append(example, example.question_id)
        if example.decomposition is None:
            message = f"{example.error or 'no gold decomposition'}; counts as wrong"
            problems.append(RowProblem(ProblemKind.NO_GOLD, example.row, example.question_id, message))
    if not examples:
        raise DataError(f"{path}: there are no questions in it")
    if len(problems) == len(examples):
        raise DataError(f"{path}: no row has a decomposition; give a file with gold ones in the column decomposition")
    return Gold(Path(path), examples, problems)


def name_systems(options: Iterable[str]) -> list[tuple[str, Path]]:
    """The names and files of prediction options, each ``NAME=FILE`` or just a file, whose name is then used.

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
            raise DataError(f"two prediction files are called {name!r}; give them different names with NAME=FILE")
        named[name] = Path(file)
    return list(named.items())


def read_predictions(
    path: str | Path, gold: Gold, name: str | None = None, *, column: str = "decomposition"
) -> SystemPredictions:
    """Read a prediction file of any format and match its rows with the gold questions.

    ``column`` names the column or field that has the decompositions.
    """
    path = Path(path)
    are_named, rows = prediction_rows(path, column)
    matching = _Matching(gold, column)
    match = matching.by_id if are_named else matching.by_order
    count = unusable = 0
    first_unusable: Row | None = None
    for row in rows:
        count += 1
        if row.error is not None:
            unusable += 1
            first_unusable = first_unusable or row
        match(row)
    if not count:
        raise DataError(f"{path}: there are no predictions in it, only a header")
    if first_unusable is not None and unusable == count:
        hint = f"; {HOW_RECORDS_LOOK}" if are_named else ""
        raise DataError(f"{path}: no row can be used; row {first_unusable.number}: {first_unusable.error}{hint}")
    if not are_named and count != len(gold.examples):
        raise DataError(
            f"{path}: {count:,} rows, but {gold.path} has {len(gold.examples):,} questions; without a "
            "question_id column, rows are matched by order, so every question needs one"
        )
    if not matching.predictions:
        raise DataError(f"{path}: none of its questions is in {gold.path}; are these the right files?")
    if are_named:
        matching.add_missing()
    return SystemPredictions(name or path.stem, path, count, matching.predictions, matching.problems)


class _Matching:
    """The predictions of a system as its rows come, in the gold file's order, and the problems of the rows."""

    def __init__(self, gold: Gold, column: str) -> None:
        self._examples = gold.examples
        self._column = column
        self._ids = gold.examples.ids()
        # For each question, the row of its prediction.
        self._rows = array("q", [0]) * len(gold.examples)
        self.predictions: RowStore[PredictionRow] = RowStore(asdict, _prediction_from_json)
        self.problems: list[RowProblem] = []

    def by_order(self, row: Row) -> None:
        """The next question is that of the row; rows beyond the last one are of none."""
        question_id = next(self._ids, None)
        if question_id is None:
            return
        if row.error is not None:
            self._add_problem(ProblemKind.MALFORMED, row, question_id, row.error)
            self.predictions.append(PredictionRow(None, "prediction: malformed row"))
        else:
            self.predictions.append(self._prediction_of(row, question_id))

    def by_id(self, row: Row) -> None:
        """The row names its question."""
        given = row.fields.get("question_id")
        question_id = given.strip() if isinstance(given, str) else ""
        if row.error is not None:
            self._add_problem(ProblemKind.MALFORMED, row, question_id or None, row.error)
            return
        place = self._examples.find(question_id)
        if place is None:
            self._add_problem(ProblemKind.EXTRA, row, question_id, "not in the gold file")
        elif self._rows[place]:
            message = f"repeats the question of row {self._rows[place]}; the first one counts"
            self._add_problem(ProblemKind.DUPLICATE, row, question_id, message)
        else:
            self._rows[place] = row.number
            self.predictions.put(place, self._prediction_of(row, question_id))

    def add_missing(self) -> None:
        """Add what a question without a row counts as."""
        for place, example in enumerate(self._examples):
            if not self._rows[place]:
                self.predictions.put(place, PredictionRow(None, "prediction: missing"))
                message = "no prediction for it; counts as wrong"
                self.problems.append(RowProblem(ProblemKind.MISSING, example.row, example.question_id, message))

    def _add_problem(self, kind: ProblemKind, row: Row, question_id: str | None, message: str) -> None:
        self.problems.append(RowProblem(kind, row.number, question_id, message))

    def _prediction_of(self, row: Row, question_id: str) -> PredictionRow:
        written = row.fields[self._column]
        if written and not (isinstance(written, str) and written.isspace()):
            try:
                reading = read_decomposition(written)
            except QdmrSyntaxError as error:
                self._add_problem(ProblemKind.MALFORMED, row, question_id, f"{error}; counts as wrong")
                return PredictionRow(None, str(error.of("prediction")))
            if has_half_character(reading.text):
                message = "half of a character (a lone surrogate); scored, and written as an escape such as \\ud800"
                self._add_problem(ProblemKind.HALF_CHARACTER, row, question_id, message)
            return PredictionRow(reading.text, reading=reading)
        why = f" ({row.fields['error']})" if row.fields.get("error") else ""
        self._add_problem(ProblemKind.EMPTY, row, question_id, f"no decomposition{why}; counts as wrong")
        return PredictionRow(None, f"prediction: no decomposition{why}")


def _prediction_from_json(value: Mapping[str, Any]) -> PredictionRow:
    reading = value["reading"]
    if reading is not None:
        reading = Reading(**{**reading, "wrapped_in": tuple(reading["wrapped_in"])})
    return PredictionRow(value["text"], value["reason"], reading)
