"""Gold decompositions, the predictions of systems, and which belongs to which.

Predictions are matched by the ids of their questions or, if they have none, by the order of the gold questions. Rows
that cannot be used are reported by number; a question without a usable row counts as wrong.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import isnan
from pathlib import Path
from typing import Any, TypeAlias

from qdecomp.data_structures.errors import DataError, QdmrSyntaxError, Reason
from qdecomp.data_structures.operators import TextEnum
from qdecomp.data_structures.reading import BREAK_FORM, Reading, read_decomposition
from qdecomp.data_structures.tokenization import has_half_character
from qdecomp.files.break_csv import BreakExample, example_store, examples_of_values, iterate_break_rows
from qdecomp.files.predictions import HOW_RECORDS_LOOK, Answer, read_answers, records_of
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
    groups: Sequence[str] = ()
    """The group of each question, if they were asked for."""


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


GoldSource: TypeAlias = str | Path | Iterable[Any]
GroupBy: TypeAlias = str | Callable[[BreakExample], object]


def read_gold(source: GoldSource, group_by: GroupBy | None = None) -> Gold:
    """Read gold questions for scoring: Break's CSV, or rows such as ``{"question": "…", "decomposition": "…"}``.

    Every question needs a unique id, and there must be decompositions; rows without an id have their number.
    ``group_by`` is a column, or a function of an example.
    """
    if isinstance(source, str | Path):
        path, rows = Path(source), iterate_break_rows(source)
    else:
        path, rows = Path("gold"), examples_of_values(map(_gold_fields, records_of(source)))
    examples = example_store()
    problems: list[RowProblem] = []
    groups: list[str] = []
    for fields, example in rows:
        if not example.question_id:
            reason = f": {example.error}" if example.error is not None else " has no question_id"
            raise DataError(f"{path}: row {example.row}{reason}")
        first = examples.find(example.question_id)
        if first is not None:
            row = examples[first].row
            raise DataError(f"{path}: row {example.row} has the question_id of row {row}: {example.question_id}")
        examples.append(example, example.question_id)
        if group_by is not None:
            groups.append(_group(group_by, fields, example))
        if example.decomposition is None:
            message = f"{example.error or 'no gold decomposition'}; counts as wrong"
            problems.append(RowProblem(ProblemKind.NO_GOLD, example.row, example.question_id, message))
    if not examples:
        raise DataError(f"{path}: there are no questions in it")
    if len(problems) == len(examples):
        raise DataError(f"{path}: no row has a decomposition; give a file with gold ones in the column decomposition")
    return Gold(path, examples, problems, groups)


def _gold_fields(row: Any) -> Mapping[str, Any]:
    """A gold question's fields; its decomposition may be written in any form that predictions may have."""
    if isinstance(row, Sequence) and not isinstance(row, str) and len(row) == 2:
        row = {"question": row[0], "decomposition": row[1]}
    if not isinstance(row, Mapping):
        raise DataError(f"gold: a row has the fields question and decomposition; this is a {type(row).__name__}")
    fields = {name: None if isinstance(value, float) and isnan(value) else value for name, value in row.items()}
    if written := fields.get("decomposition"):
        fields["decomposition"] = read_decomposition(written).text
    return fields


def _group(group_by: GroupBy, fields: Mapping[str, Any], example: BreakExample) -> str:
    if not isinstance(group_by, str):
        return str(group_by(example))
    if group_by in fields:
        return str(fields[group_by])
    if group_by in ("source", "steps"):
        return str(getattr(example, group_by))
    found = ", ".join([*map(str, fields), "source", "steps"])
    raise DataError(f"gold: row {example.row} has no {group_by} to group by; there is {found}")


def name_systems(options: Iterable[str]) -> list[tuple[str, Path, str | None]]:
    """The name, file and column of prediction options, each ``[NAME=]FILE[:COLUMN]``.

    A system without a name is called like its column or, without one, like its file.

    >>> name_systems(["out/biaffine.jsonl", "CopyNet=out/copynet.csv"])
    [('biaffine', PosixPath('out/biaffine.jsonl'), None), ('CopyNet', PosixPath('out/copynet.csv'), None)]
    """
    named: dict[str, tuple[Path, str | None]] = {}
    for option in options:
        name, equals, file = option.partition("=")
        if not equals or Path(option).exists():
            name, file = "", option
        elif not name.strip() or not file:
            raise DataError(f"{option!r}: give predictions as FILE or NAME=FILE")
        whole, colon, column = file.rpartition(":")
        has_column = bool(colon and column and Path(whole).exists() and not Path(file).exists())
        path = Path(whole if has_column else file)
        name = name.strip() or (column if has_column else path.stem)
        if not name or not file:
            raise DataError(f"{option!r}: give predictions as FILE or NAME=FILE")
        if name in named:
            raise DataError(f"two prediction files are called {name!r}; give them different names with NAME=FILE")
        named[name] = path, column if has_column else None
    return [(name, path, column) for name, (path, column) in named.items()]


class HowRead(TextEnum):
    """How predictions are read, which changes scores."""

    ANY = "any"
    """In any form that people and language models write."""
    BREAK = "break"
    """As Break's text, whatever it looks like."""
    EPR = "epr"
    """As EPR and the codebases that go back to it do."""


def read_predictions(
    source: str | Path | Iterable[Any],
    gold: Gold,
    name: str | None = None,
    *,
    column: str | None = None,
    read: HowRead = HowRead.ANY,
) -> SystemPredictions:
    """Read what a system wrote, from a file of any format or a value, and match it with the gold questions.

    ``column`` names the column or field that has the decompositions.
    """
    path = Path(source) if isinstance(source, str | Path) else Path(name or "predictions")
    are_named, answers = read_answers(source, column)
    matching = _Matching(gold, read)
    match = matching.by_id if are_named else matching.by_order
    count = unusable = 0
    first_unusable: Answer | None = None
    for answer in answers:
        count += 1
        if answer.error is not None:
            unusable += 1
            first_unusable = first_unusable or answer
        match(answer)
    if not count:
        raise DataError(f"{path}: there are no predictions in it, only a header")
    if first_unusable is not None and unusable == count:
        raise DataError(
            f"{path}: no row can be used; row {first_unusable.number}: {first_unusable.error}; {HOW_RECORDS_LOOK}"
        )
    if not are_named and count != len(gold.examples):
        raise DataError(
            f"{path}: {count:,} rows, but {gold.path} has {len(gold.examples):,} questions; without a "
            "question_id, rows are matched by order, so every question needs one"
        )
    if not matching.predictions:
        raise DataError(f"{path}: none of its questions is in {gold.path}; are these the right files?")
    if are_named:
        matching.add_missing()
    return SystemPredictions(name or path.stem, path, count, matching.predictions, matching.problems)


class _Matching:
    """The predictions of a system as its answers come, in the gold file's order, and the problems of the rows."""

    def __init__(self, gold: Gold, read: HowRead) -> None:
        self._examples = gold.examples
        self._read = read
        self._ids = gold.examples.ids()
        # For each question, the row of its prediction.
        self._rows = array("q", [0]) * len(gold.examples)
        self.predictions: RowStore[PredictionRow] = RowStore(asdict, _prediction_from_json)
        self.problems: list[RowProblem] = []

    def by_order(self, answer: Answer) -> None:
        """The next question is that of the row; rows beyond the last one are of none."""
        question_id = next(self._ids, None)
        if question_id is None:
            return
        if answer.error is not None:
            self._add_problem(ProblemKind.MALFORMED, answer, question_id, answer.error)
            self.predictions.append(PredictionRow(None, "prediction: malformed row"))
        else:
            self.predictions.append(self._prediction_of(answer, question_id))

    def by_id(self, answer: Answer) -> None:
        """The row names its question."""
        question_id = (answer.question_id or "").strip()
        if answer.error is not None:
            self._add_problem(ProblemKind.MALFORMED, answer, question_id or None, answer.error)
            return
        place = self._examples.find(question_id)
        if place is None:
            self._add_problem(ProblemKind.EXTRA, answer, question_id, "not in the gold file")
        elif self._rows[place]:
            message = f"repeats the question of row {self._rows[place]}; the first one counts"
            self._add_problem(ProblemKind.DUPLICATE, answer, question_id, message)
        else:
            self._rows[place] = answer.number
            self.predictions.put(place, self._prediction_of(answer, question_id))

    def add_missing(self) -> None:
        """Add what a question without a row counts as."""
        for place, example in enumerate(self._examples):
            if not self._rows[place]:
                self.predictions.put(place, PredictionRow(None, "prediction: missing"))
                message = "no prediction for it; counts as wrong"
                self.problems.append(RowProblem(ProblemKind.MISSING, example.row, example.question_id, message))

    def _add_problem(self, kind: ProblemKind, answer: Answer, question_id: str | None, message: str) -> None:
        self.problems.append(RowProblem(kind, answer.number, question_id, message))

    def _prediction_of(self, answer: Answer, question_id: str) -> PredictionRow:
        written = answer.written
        if written and not (isinstance(written, str) and written.isspace()):
            try:
                reading = reading_of(written, self._read)
            except QdmrSyntaxError as error:
                self._add_problem(ProblemKind.MALFORMED, answer, question_id, f"{error}; counts as wrong")
                return PredictionRow(None, str(error.of("prediction")))
            if not reading.text:
                self._add_problem(ProblemKind.EMPTY, answer, question_id, f"{reading.doubt}; counts as wrong")
                return PredictionRow(None, f"prediction: {reading.doubt}", reading)
            if has_half_character(reading.text):
                message = "half of a character (a lone surrogate); scored, and written as an escape such as \ud800"
                self._add_problem(ProblemKind.HALF_CHARACTER, answer, question_id, message)
            return PredictionRow(reading.text, reading=reading)
        why = f" ({answer.reason})" if answer.reason else ""
        self._add_problem(ProblemKind.EMPTY, answer, question_id, f"no decomposition{why}; counts as wrong")
        return PredictionRow(None, f"prediction: no decomposition{why}")


# EPR counts a prediction that mentions step 13 as wrong before it reads it.
_REFUSED_BY_EPR = "#13"
_EPR_LABEL = re.compile(r"\d+#\) ")


def reading_of(written: Any, read: HowRead) -> Reading:
    """A decomposition as it is scored; raises if it is not read."""
    if read is HowRead.ANY or not isinstance(written, str):
        reading = read_decomposition(written)
    else:
        reading = Reading(written, BREAK_FORM)
    if read is not HowRead.EPR:
        return reading
    if _REFUSED_BY_EPR in reading.text:
        raise QdmrSyntaxError(Reason("EPR counts {} as wrong", _REFUSED_BY_EPR))
    line = _EPR_LABEL.sub(";", reading.text.split("\n")[0]).strip()
    return Reading(line.lstrip(";").replace("  ", " ").lower(), BREAK_FORM)


def _prediction_from_json(value: Mapping[str, Any]) -> PredictionRow:
    reading = value["reading"]
    if reading is not None:
        reading = Reading(**{**reading, "wrapped_in": tuple(reading["wrapped_in"])})
    return PredictionRow(value["text"], value["reason"], reading)
