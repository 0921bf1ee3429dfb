"""The paper's error analysis (section 6.3, table 5): a sheet of wrong answers that a person fills in, and its table.

A program cannot say whether an answer that LF-EM calls wrong is right after all. The sheet is a CSV with a random
sample of each system's errors and a column for each of the paper's classes. A person marks what applies with an x, also
several classes in a row; rows without a mark count as not judged yet.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.operators import TextEnum
from qdecomp.evaluation.report import SystemAnalysis
from qdecomp.files import write_text_atomically
from qdecomp.files.rows import RowFile
from qdecomp.terminal import Table, format_csv


class ErrorClass(TextEnum):
    """What a person can say about an answer that LF-EM calls wrong; of the first four, the answer is right."""

    EQUIVALENT_SOLUTION = "equivalent solution"
    ELABORATION_LEVEL = "elaboration level"
    REDUNDANCY = "redundancy"
    WRONG_GOLD = "wrong gold"
    MISSING_INFORMATION = "missing information"
    ADDITIONAL_STEPS = "additional steps"
    WRONG_GLOBAL_STRUCTURE = "wrong global structure"
    WRONG_STEP_STRUCTURE = "wrong step structure"
    OUT_OF_VOCABULARY = "out of vocabulary"


_RIGHT = frozenset(list(ErrorClass)[:4])
_SHOWN = ("system", "question_id", "question", "gold", "prediction", "recognised")
_MARKS = frozenset(("x", "1", "yes", "true"))
_NO_MARKS = frozenset(("", "0", "no", "false", "-"))


def write_error_sheet(systems: Iterable[SystemAnalysis], path: Path, *, count: int, seed: int) -> int:
    """Write a sheet with this many random errors of each system, or all if there are fewer; how many rows it has.

    ``recognised`` has the kinds of difference that a program sees.
    """
    rows = []
    for system in systems:
        wrong = [each for each in system.analyses if each.kinds and each.question.example.decomposition is not None]
        for analysis in random.Random(f"{seed} {system.name}").sample(wrong, min(count, len(wrong))):
            example, prediction = analysis.question.example, analysis.question.prediction
            kinds = ", ".join(sorted(map(str, analysis.kinds)))
            shown = (example.question, example.decomposition or "", prediction.text or f"({prediction.reason})", kinds)
            rows.append((system.name, example.question_id, *shown, *[""] * len(ErrorClass), ""))
    path.parent.mkdir(parents=True, exist_ok=True)
    with write_text_atomically(path) as stream:
        stream.write(format_csv((*_SHOWN, *map(str, ErrorClass), "note"), rows))
    return len(rows)


def require_new_sheet(path: Path) -> None:
    """Raise if there is such a file, since somebody may have filled it in."""
    if path.exists():
        raise DataError(f"{path}: is there already, and may be filled in; choose another name, or remove it")


def _read(path: Path) -> Iterator[tuple[str, frozenset[ErrorClass]]]:
    """The system and the marks of each row; without any, nobody has judged it yet."""
    file = RowFile(path)
    missing = [name for name in ("system", *map(str, ErrorClass)) if name not in file.columns]
    if missing:
        raise DataError(f"{path}: not a sheet of errors; missing columns: {', '.join(missing)}")
    for row in file:
        if row.error is not None:
            raise DataError(f"{path}: row {row.number}: {row.error}")
        classes = set()
        for each in ErrorClass:
            mark = str(row.fields.get(str(each)) or "").strip()
            if mark.lower() in _MARKS:
                classes.add(each)
            elif mark.lower() not in _NO_MARKS:
                raise DataError(f"{path}: row {row.number}, {each}: {mark!r} is no mark; put an x, or leave it empty")
        yield str(row.fields["system"]), frozenset(classes)


def error_shares(sheets: Iterable[Path]) -> dict[str, dict[str, Any]]:
    """For each system, how many errors were judged, and the shares of right answers and of each class among them.

    A mark that is neither an x nor empty is a :class:`DataError`.
    """
    judged = [row for path in sheets for row in _read(path)]
    if not any(classes for _, classes in judged):
        raise DataError("no row has a mark; put an x into the columns of the classes that apply")
    found: dict[str, dict[str, Any]] = {}
    for name in dict.fromkeys(system for system, _ in judged):
        rows = [classes for system, classes in judged if system == name]
        marked = [classes for classes in rows if classes]
        counts = Counter(each for classes in marked for each in classes)
        right = sum(classes <= _RIGHT for classes in marked)
        shares = {"correct": right, **{str(each): counts[each] for each in ErrorClass}}
        found[name] = {"errors": len(rows), "judged": len(marked)}
        found[name] |= {each: number / len(marked) if marked else None for each, number in shares.items()}
    return found


def error_table(shares: dict[str, dict[str, Any]]) -> Table:
    """The table as in the paper: classes by systems, in percent of the errors that were judged."""
    rows = [
        (name, *("–" if each[name] is None else f"{100 * each[name]:.1f}%" for each in shares.values()))
        for name in ("correct", *map(str, ErrorClass))
    ]
    rows.append(("judged", *(f"{each['judged']} of {each['errors']}" for each in shares.values())))
    note = "Shares of the judged errors; an error may have several classes. Correct: only classes of right answers."
    return Table("Error classes", ("class", *shares), tuple(rows), note=note)
