"""Gold decompositions, the predictions of systems, and which belongs to which.

Predictions are matched by the ids of their questions or, if they have none, by the order of the gold questions. Rows
that cannot be used are reported by number; a question without a usable row counts as wrong.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
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


GoldSource: TypeAlias = str | Path | Iterable[Any]
GroupBy: TypeAlias = str | Callable[[BreakExample], object]


def read_gold(source: GoldSource, group_by: GroupBy | None = None, *, may_lack_all: bool = False) -> Gold:
    """Read gold questions for scoring: Break's CSV, or rows such as ``{"question": "…", "decomposition": "…"}``.

    Every question needs a unique id, and there must be decompositions, unless the file ``may_lack_all`` as that of test
    questions does; rows without an id have their number. ``group_by`` is a column, or a function of an example.
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
    if len(problems) == len(examples) and not may_lack_all:
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
        is_unnamed = not equals or Path(option).exists()
        file = option if is_unnamed else file
        whole, colon, column = file.rpartition(":")
        has_column = bool(colon and column and Path(whole).exists() and not Path(file).exists())
        path = Path(whole if has_column else file)
        name = (column if has_column else path.stem) if is_unnamed else name.strip()
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
    path = Path(name or "predictions")
    if isinstance(source, str | Path):
        # Two systems may be columns of one file.
        path = Path(f"{source}:{column}" if column else source)
    are_named, answers = read_answers(source, column)
    examples = gold.examples
    problems: list[RowProblem] = []
    predictions: RowStore[PredictionRow] = RowStore()
    # For each question, the row of its prediction.
    rows = array("q", [0]) * len(examples)
    ids = examples.ids()
    count = usable = 0
    unusable: Answer | None = None
    for count, answer in enumerate(answers, start=1):
        usable += answer.error is None
        unusable = unusable or (None if answer.error is None else answer)
        question_id = (answer.question_id or "").strip() if are_named else next(ids, None)
        if question_id is None:  # a row beyond the last question
            continue
        place = examples.find(question_id) if are_named else count - 1
        problem: tuple[ProblemKind, str] | None = None
        if answer.error is not None:
            problem = ProblemKind.MALFORMED, answer.error
            if not are_named:
                predictions.append(PredictionRow(None, "prediction: malformed row"))
        elif place is None:
            problem = ProblemKind.EXTRA, "not in the gold file"
        elif rows[place]:
            problem = ProblemKind.DUPLICATE, f"repeats the question of row {rows[place]}; the first one counts"
        else:
            rows[place] = answer.number
            row, problem = _prediction_of(answer, read)
            predictions.put(place, row)
        if problem is not None:
            problems.append(RowProblem(problem[0], answer.number, question_id or None, problem[1]))
    if not count:
        only = ", only a header" if isinstance(source, str | Path) else ""
        raise DataError(f"{path}: there are no predictions in it{only}")
    if unusable is not None and not usable:
        raise DataError(f"{path}: no row can be used; row {unusable.number}: {unusable.error}; {HOW_RECORDS_LOOK}")
    if not are_named and count != len(examples):
        raise DataError(
            f"{path}: {count:,} rows, but {gold.path} has {len(examples):,} questions; without a "
            "question_id, rows are matched by order, so every question needs one"
        )
    if not predictions:
        raise DataError(f"{path}: none of its questions is in {gold.path}; are these the right files?")
    if are_named:
        for place, example in enumerate(examples):
            if not rows[place]:
                predictions.put(place, PredictionRow(None, "prediction: missing"))
                message = "no prediction for it; counts as wrong"
                problems.append(RowProblem(ProblemKind.MISSING, example.row, example.question_id, message))
    return SystemPredictions(name or path.stem, path, count, predictions, problems)


def _prediction_of(answer: Answer, read: HowRead) -> tuple[PredictionRow, tuple[ProblemKind, str] | None]:
    """What is scored of an answer, and what is wrong with it."""
    written = answer.written
    if not written or (isinstance(written, str) and written.isspace()):
        why = f"no decomposition ({answer.reason})" if answer.reason else "no decomposition"
        return PredictionRow(None, f"prediction: {why}"), (ProblemKind.EMPTY, f"{why}; counts as wrong")
    try:
        reading = reading_of(written, read)
    except QdmrSyntaxError as error:
        problem = ProblemKind.MALFORMED, f"{error}; counts as wrong"  # before it names the side
        return PredictionRow(None, str(error.of("prediction"))), problem
    if not reading.text:
        row = PredictionRow(None, f"prediction: {reading.doubt}", reading)
        return row, (ProblemKind.EMPTY, f"{reading.doubt}; counts as wrong")
    if has_half_character(reading.text):
        message = "half of a character (a lone surrogate); scored, and written as an escape such as \ud800"
        return PredictionRow(reading.text, reading=reading), (ProblemKind.HALF_CHARACTER, message)
    return PredictionRow(reading.text, reading=reading), None


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
