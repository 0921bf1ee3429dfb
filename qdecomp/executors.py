"""Functions that answer the steps of a plan, to give to :meth:`qdecomp.Plan.run`.

:func:`table` answers them from a table, by the names of its columns and the values in them. It reads what a step
says with the lexicon of LF-EM, so that "ring" is "rings" and "big" is "large"; a step that it does not understand to
the last word is an error, never a guess.

>>> import pandas
>>> from qdecomp import Decomposition
>>> frame = pandas.DataFrame({"hotel": ["Sea View", "Harbour Inn"], "price": [80, 120], "pool": [False, True]})
>>> steps = "return hotels ;return #1 with a pool ;return price of #2"
>>> Decomposition.of_text("What do hotels with a pool cost?", steps).plan().run(table(frame)).answer
[120]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from difflib import SequenceMatcher
from functools import partial
from typing import Any

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.lexicon.equivalence import representatives
from qdecomp.data_structures.operators import Operator
from qdecomp.planning.answer_values import RELATIONS, as_key, as_list, as_measure, as_text, compare, plain_answer
from qdecomp.planning.sub_questions import SubQuestion

_WORD = re.compile(r"[\w.,%$€£']*\w[%]?|[$€£]")
_FUNCTION_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an the this that these those which who whose what where when there all any each every of in on at for from "
        "by with to is are was were be been has have had do does did and also located situated",
    )
)
_NEGATIONS = frozenset(("not", "no", "without", "besides", "except"))
_COMPARED = tuple(
    (re.compile(rf"(?:\b(?:is|are|of|at)\b )*\b(?:{phrases}) (?P<limit>\S*\d\S*)", re.IGNORECASE), relation)
    for phrases, relation in RELATIONS.items()
)
_NEAREST = 3

_Row = dict[str, Any]
_Condition = Callable[[_Row], bool]


def table(frame: Any, *, rows: str | None = None, names: str | None = None) -> Callable[[SubQuestion], Any]:
    """A function that answers steps from a pandas or Polars frame or a DuckDB relation.

    ``names`` is the column that tells rows apart, by default the first text column without repetitions, and ``rows``
    the word for what a row is, by default the header of that column. Answers about rows are their names.
    """
    frame = frame.df() if hasattr(frame, "df") else frame
    if not hasattr(frame, "columns"):
        raise DataError(f"give a pandas or Polars frame or a DuckDB relation, not {type(frame).__name__}")
    columns = {str(column): [_cell(value) for value in frame[column]] for column in frame.columns}
    found = names or next((header for header, values in columns.items() if _are_names(values)), None)
    if found is None or found not in columns:
        raise DataError(f"the table has no column {names!r}" if names else "no text column tells the rows apart")
    if not _are_names(columns[found]):
        raise DataError(f"the values of {found!r} do not tell the rows apart; name another column")
    return _Table(columns, found, rows or found)


def _cell(value: Any) -> Any:
    try:
        return plain_answer(value)
    except DataError:
        # A missing value is an error only where it is needed.
        return None


def _are_names(values: Sequence[Any]) -> bool:
    return all(isinstance(value, str) for value in values) and len(set(map(as_key, values))) == len(values)


class _Table:
    """Answers one step after another; it keeps nothing between them."""

    def __init__(self, columns: dict[str, list[Any]], names: str, rows: str) -> None:
        self.columns, self.names, self.noun = columns, names, rows
        self.rows: list[_Row] = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        self.by_name = {as_key(row[names]): row for row in self.rows}

    def __call__(self, question: SubQuestion) -> Any:
        operator = question.step.operator if question.step.logical is not None else None
        if operator not in _ANSWERS:
            raise DataError(f"a table does not answer {question!s}")
        return _ANSWERS[operator](self, question)

    def select(self, question: SubQuestion) -> Any:
        said = _Said(self, question.step.text)
        kept = said.kept(self.rows)
        said.check()
        if said.column is None:
            found = [row[self.names] for row in kept]
            return found[0] if said.one_name and found else found
        values = [self._value(row, said.column) for row in kept]
        are_texts = all(isinstance(value, str) for value in values)
        return list({as_key(value): value for value in values}.values()) if are_texts else values

    def filter(self, question: SubQuestion) -> Any:
        subject, text = self._subject(question)
        said = _Said(self, text)
        members = as_list(subject)
        kept = said.kept(list(map(self._row, [subject] if members is None else members)))
        said.check(condition=True)
        found = [row[self.names] for row in kept]
        return found[0] if members is None and found else found

    def project(self, question: SubQuestion) -> Any:
        subject, text = self._subject(question)
        said = _Said(self, text)
        members = as_list(subject)
        values = [self._projected(member, said) for member in ([subject] if members is None else members)]
        said.check()
        return values[0] if members is None else values

    def count(self, question: SubQuestion) -> Any:
        """A number that counts already ("number of rooms"), or the members of groups that a column makes."""
        step = question.step
        keys = step.logical.argument("key") if step.logical is not None else ()
        if step.logical is not None and step.logical.properties == ("count",):
            if keys and not keys[0].references:
                said = _Said(self, " ".join(keys[0].words))
                said.check()
                members = as_list(next(iter(question.answers.values()))) or []
                groups = [as_text(self._value(self._row(member), said.column or self.names)) for member in members]
                return {group: groups.count(group) for group in dict.fromkeys(groups)}
            counted = question.answers[step.needs[-1]]
            if all(as_measure(value) is not None for value in as_list(counted) or [counted]):
                return counted
        raise DataError(f"a table does not answer {question!s}")

    def _subject(self, question: SubQuestion) -> tuple[Any, str]:
        """What a step is about, and the rest of its text with the other answers filled in."""
        step = question.step
        subjects = step.logical.argument("sub") if step.logical is not None else ()
        about = next((number for argument in subjects for number in argument.references), step.needs[0])
        known = {f"#{number}": as_text(answer) for number, answer in question.answers.items()} | {f"#{about}": ""}
        return question.answers[about], " ".join(filter(None, (known.get(word, word) for word in step.text.split())))

    def _projected(self, member: Any, said: _Said) -> Any:
        """A value of a row, or what belongs to a value: its rows, or their values."""
        key, column = as_key(member), said.column or self.names
        if key not in self.by_name and as_measure(member) is None:
            for header, values in self.columns.items():
                if any(isinstance(value, str) and as_key(value) == key for value in values):
                    rows = said.kept([row for row in self.rows if as_key(row[header]) == key])
                    return [self._value(row, column) for row in rows]
        return self._value(self._row(member), column)

    def _row(self, member: Any) -> _Row:
        row = self.by_name.get(as_key(member))
        if row is None:
            near = _nearest(as_text(member), self.columns[self.names])
            raise DataError(f"the table has no row {as_text(member)!r}; the nearest are {near}")
        return row

    def _value(self, row: _Row, column: str) -> Any:
        if row[column] is None:
            raise DataError(f"{row[self.names]!r} has no {column!r}")
        return row[column]


class _Said:
    """The words of a step; what is understood is taken out, and the rest must mean nothing."""

    def __init__(self, owner: _Table, text: str) -> None:
        self.table, self.text = owner, text
        self.conditions: list[_Condition] = []
        self.one_name = False
        text = self._comparisons(text)
        self.words = [word for word in _WORD.findall(text) if word.lower() not in _FUNCTION_WORDS]
        self.negated = any(word.lower() in _NEGATIONS for word in self.words)
        self.words = [word for word in self.words if word.lower() not in _NEGATIONS]
        self._values()
        if self.negated and len(self.conditions) != 1:
            raise DataError(f"{self.text!r} denies what the table does not have")
        said = len(self.words)
        _take(self.words, _WORD.findall(owner.noun))
        self.words = [word for word in self.words if word.lower() not in ("name", "names")]
        self.named_rows = len(self.words) < said
        self.column = self._find(lambda values: True)
        """The column whose values are asked for; None if it is the rows themselves."""

    def kept(self, rows: Sequence[_Row]) -> list[_Row]:
        """The rows for which everything that is said holds."""
        return [row for row in rows if all(condition(row) is not self.negated for condition in self.conditions)]

    def check(self, *, condition: bool = False) -> None:
        """Raise if a word was not understood, or, of a filter, if there is no condition."""
        what = " ".join(self.words) or self.text
        if self.words or (condition and (self.column is not None or not self.conditions)):
            near = _nearest(what, self.table.columns)
            raise DataError(f"the table has nothing for {what!r}; the nearest columns are {near}")
        if not (self.conditions or self.named_rows or self.column):
            raise DataError(f"the table has nothing for {what!r}; its columns are {', '.join(self.table.columns)}")

    def _comparisons(self, text: str) -> str:
        for pattern, relation in _COMPARED:
            while match := pattern.search(text):
                self.words = _WORD.findall(text[: match.start()] + " " + text[match.end() :])
                column = self._find(lambda values: any(as_measure(value) is not None for value in values))
                if column is None:
                    near = _nearest(text, self.table.columns)
                    raise DataError(f"no column of numbers is named in {text!r}; the nearest are {near}")
                self.conditions.append(partial(self._compared, column, relation, match["limit"]))
                text = " ".join(self.words)
        return text

    def _compared(self, column: str, relation: Callable[[Any, Any], bool], limit: str, row: _Row) -> bool:
        verdict = compare(relation, self.table._value(row, column), limit, is_literal=True)
        if verdict is None:
            raise DataError(f"{column!r} of {row[self.table.names]!r} cannot be compared with {limit!r}")
        return verdict

    def _values(self) -> None:
        """Values of text columns, the longest first, with the header of their column if it is there; then truths."""
        columns = self.table.columns.items()
        values = {(header, value) for header, cells in columns for value in cells if isinstance(value, str)}
        for header, value in sorted(values, key=lambda pair: (-len(pair[1].split()), pair[1], pair[0])):
            if _take(self.words, _WORD.findall(value)):
                key = as_key(value)
                self.conditions.append(lambda row, header=header, key=key: as_key(row[header]) == key)  # type: ignore[misc]
                self.one_name = header == self.table.names
                if header != self.table.names:
                    _take(self.words, _header_words(header))

        for header, cells in columns:
            if all(isinstance(cell, bool) for cell in cells) and _take(self.words, _header_words(header)):
                self.conditions.append(lambda row, header=header: row[header])  # type: ignore[misc]

    def _find(self, wanted: Callable[[list[Any]], bool]) -> str | None:
        """The column that most of these words name; its words are taken out."""
        scores = {}
        for header, values in self.table.columns.items():
            words = _header_words(header)
            common = sum(any(_same(word, each) for each in self.words) for word in words)
            if common and wanted(values):
                scores[header] = (common / len(words), common)
        best = [header for header, score in scores.items() if score == max(scores.values())]
        if len(best) > 1:
            raise DataError(f"{self.text!r} may mean {' or '.join(map(repr, best))}")
        for word in _header_words(best[0]) if best else ():
            self.words = [each for each in self.words if not _same(word, each)]
        return best[0] if best else None


_ANSWERS: dict[Operator | None, Callable[[_Table, SubQuestion], Any]] = {
    Operator.SELECT: _Table.select,
    Operator.FILTER: _Table.filter,
    Operator.DISCARD: _Table.filter,
    Operator.PROJECT: _Table.project,
    Operator.AGGREGATE: _Table.count,
    Operator.GROUP: _Table.count,
}


def _header_words(header: str) -> list[str]:
    """The words of a header such as "room_count" or "Price (EUR)", without what is in parentheses."""
    plain = re.sub(r"\([^)]*\)|\[[^]]*\]", " ", header).replace("_", " ")
    return [word for word in re.findall(r"[A-Z]?[^\W\dA-Z]+|[A-Z]+|\d+", plain) if word.lower() not in _FUNCTION_WORDS]


def _take(words: list[str], wanted: Sequence[str]) -> bool:
    """Whether words follow each other among others; if so, they are taken out."""
    wanted = [word for word in wanted if word.lower() not in _FUNCTION_WORDS]
    for start in range(len(words) - len(wanted) + 1):
        if wanted and all(map(_same, wanted, words[start : start + len(wanted)])):
            del words[start : start + len(wanted)]
            return True
    return False


def _same(first: str, second: str) -> bool:
    one, other = first.lower(), second.lower()
    classes = representatives(f"{one} {other}")
    return one == other or classes.get(one, one) == classes.get(other, other)


def _nearest(text: str, among: Iterable[str]) -> str:
    def likeness(name: str) -> float:
        return max(SequenceMatcher(None, word.lower(), name.lower()).ratio() for word in [text, *text.split()])

    return ", ".join(sorted(among, key=likeness, reverse=True)[:_NEAREST])
