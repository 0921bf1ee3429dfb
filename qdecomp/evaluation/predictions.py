"""Gold decompositions, predictions from a file, and which belongs to which.

Predictions are prediction records (JSON lines, matched by ``question_id``) or a CSV with a ``decomposition``
column, matched by its ``question_id`` column or, as on Break's leaderboard, by the order of the gold file. Rows
that cannot be used are reported by number; a question without a usable row counts as wrong.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from qdecomp.data_structures.errors import DataError, ErrorText, QdmrSyntaxError
from qdecomp.data_structures.reading import Reading, read_decomposition
from qdecomp.data_structures.tokenization import has_half_character
from qdecomp.evaluation.prediction_files import HOW_RECORDS_LOOK, WrittenRow, holds_json, written_rows
from qdecomp.evaluation.row_problems import ProblemKind, RowProblem
from qdecomp.files import BreakExample
from qdecomp.files.readers.break_csv import iterate_break_csv
from qdecomp.files.row_store.row_index import RowIndex
from qdecomp.files.row_store.spilled_rows import SpilledRows

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


@dataclass(frozen=True, slots=True)
class Gold:
    """The questions to score on, in the order of their file; ids are unique."""

    path: Path
    examples: Sequence[BreakExample]
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
    examples: SpilledRows[BreakExample] = SpilledRows()
    problems: SpilledRows[RowProblem] = SpilledRows()
    nameless: str | None = None
    for example in iterate_break_csv(path):
        if not example.question_id:
            nameless = f": {example.error}" if example.error is not None else " has no question_id"
            break
        examples.append(example)
        if example.decomposition is None:
            message = f"{example.error or 'no gold decomposition'}; counts as wrong"
            problems.append(RowProblem(ProblemKind.NO_GOLD, example.row, example.question_id, message))
    _require_own_ids(path, examples)
    if nameless is not None:
        raise DataError(f"{path}: row {len(examples) + 1}{nameless}")
    if not examples:
        raise DataError(f"{path}: there are no questions in it")
    if len(problems) == len(examples):
        raise DataError(f"{path}: no row has a decomposition; give a file with gold ones in the column decomposition")
    return Gold(Path(path), examples.frozen(), problems.frozen())


def _require_own_ids(path: str | Path, examples: Sequence[BreakExample]) -> None:
    if (repetition := _index(examples).first_repetition()) is not None:
        first, again = (examples[place] for place in repetition)
        raise DataError(f"{path}: row {again.row} has the question_id of row {first.row}: {again.question_id}")


def _index(examples: Sequence[BreakExample]) -> RowIndex:
    return RowIndex((example.question_id for example in examples), lambda place: examples[place].question_id)


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
    """Read a prediction file of either format and match its rows with the gold questions.

    ``column`` names the column or field that has the decompositions.
    """
    path = Path(path)
    are_named, written = written_rows(path, column)
    rows = _CountedRows(written)
    problems: SpilledRows[RowProblem] = SpilledRows()
    match = _match_by_id if are_named else _match_by_order
    predictions = match(path, rows, gold, problems)
    return SystemPredictions(name or path.stem, path, rows.count, predictions, problems.frozen())


class _CountedRows:
    """Passes rows on, once, and counts them."""

    def __init__(self, rows: Iterable[WrittenRow | RowProblem]) -> None:
        self._rows = rows
        self._unusable = 0
        self._first_problem: RowProblem | None = None
        self.count = 0

    def __iter__(self) -> Iterator[WrittenRow | RowProblem]:
        for row in self._rows:
            self.count += 1
            if isinstance(row, RowProblem):
                self._unusable += 1
                self._first_problem = self._first_problem or row
            yield row

    def require_usable(self, path: Path) -> None:
        """Raise if none of the rows that were passed on can be used."""
        if not self.count:
            raise DataError(f"{path}: there are no predictions in it, only a header")
        first = self._first_problem
        if first is not None and self._unusable == self.count:
            hint = f"; {HOW_RECORDS_LOOK}" if holds_json(path) else ""
            raise DataError(f"{path}: no row can be used; row {first.row}: {first.message}{hint}")


def _match_by_order(
    path: Path, rows: _CountedRows, gold: Gold, problems: SpilledRows[RowProblem]
) -> Sequence[PredictionRow]:
    predictions: SpilledRows[PredictionRow] = SpilledRows()
    examples = iter(gold.examples)
    for row in rows:
        example = next(examples, None)
        if example is None:
            continue  # to count them, for the message
        if isinstance(row, RowProblem):
            problems.append(RowProblem(row.kind, row.row, example.question_id, row.message))
            predictions.append(PredictionRow(None, "prediction: malformed row"))
        else:
            predictions.append(_prediction_of(row, example.question_id, problems))
    rows.require_usable(path)
    if rows.count != len(gold.examples):
        raise DataError(
            f"{path}: {rows.count:,} rows, but {gold.path} has {len(gold.examples):,} questions; without a "
            "question_id column, rows are matched by order, so every question needs one"
        )
    return predictions.frozen()


def _match_by_id(
    path: Path, rows: _CountedRows, gold: Gold, problems: SpilledRows[RowProblem]
) -> Sequence[PredictionRow]:
    index = _index(gold.examples)
    predictions: SpilledRows[PredictionRow] = SpilledRows()
    # For each question the place of its prediction among these, and its row in the file.
    places = array("q", [-1]) * len(gold.examples)
    numbers = array("q", [0]) * len(gold.examples)
    for row in rows:
        if isinstance(row, RowProblem):
            problems.append(row)
            continue
        question_id = row.question_id or ""
        question = index.find(question_id)
        if question is None:
            problems.append(RowProblem(ProblemKind.EXTRA, row.number, question_id, "not in the gold file"))
        elif places[question] >= 0:
            message = f"repeats the question of row {numbers[question]}; the first one counts"
            problems.append(RowProblem(ProblemKind.DUPLICATE, row.number, question_id, message))
        else:
            places[question], numbers[question] = len(predictions), row.number
            predictions.append(_prediction_of(row, question_id, problems))
    rows.require_usable(path)
    if not predictions:
        raise DataError(f"{path}: none of its questions is in {gold.path}; are these the right files?")
    if len(predictions) < len(gold.examples):
        for example, place in zip(gold.examples, places, strict=True):
            if place < 0:
                message = "no prediction for it; counts as wrong"
                problems.append(RowProblem(ProblemKind.MISSING, example.row, example.question_id, message))
    return predictions.chosen(places, PredictionRow(None, "prediction: missing"))


def _prediction_of(row: WrittenRow, question_id: str, problems: SpilledRows[RowProblem]) -> PredictionRow:
    written = row.decomposition
    if written and not (isinstance(written, str) and written.isspace()):
        try:
            reading = read_decomposition(written)
        except QdmrSyntaxError as error:
            problems.append(RowProblem(ProblemKind.MALFORMED, row.number, question_id, f"{error}; counts as wrong"))
            return PredictionRow(None, ErrorText.of(error.of("prediction")))
        if has_half_character(reading.text):
            message = "half of a character (a lone surrogate); scored, and written as an escape such as \\ud800"
            problems.append(RowProblem(ProblemKind.HALF_CHARACTER, row.number, question_id, message))
        return PredictionRow(reading.text, reading=reading)
    why = f" ({row.error})" if row.error else ""
    problems.append(RowProblem(ProblemKind.EMPTY, row.number, question_id, f"no decomposition{why}; counts as wrong"))
    return PredictionRow(None, f"prediction: no decomposition{why}")
