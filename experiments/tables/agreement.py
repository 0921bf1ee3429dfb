"""Which parsers are right on the same questions, and how far to trust an answer on which several agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

from qdecomp.evaluation.scoring import QuestionScores, SystemScores

from ..cell_scores import Scores
from ..cells import ALL_ROWS, systems_of
from ..paper import figures_of
from ..results import Block, Entry, Result
from ..scores import LF_EM, figure, value_of
from ..settings import Settings
from ..table_results import result_of

__all__ = ["build"]

_ANY, _NONE = "at least one", "none"
_SHARE, _SCORE = "share of questions", "LF-EM of these"

# The runs of one seed, one per system; only runs of the same round are compared.
_Round = tuple[SystemScores, ...]


def build(settings: Settings, base: Path) -> Result:
    """The shares of questions that exactly a subset has right, and LF-EM on those where a subset agrees."""
    scores = Scores.of("agreement", settings, base)
    systems = systems_of("agreement", settings)
    runs = [scores.of_system(system.name, ALL_ROWS) for system in systems]
    titles = [system.title for system in systems]
    rounds: list[_Round] = list(zip(*runs, strict=False)) if all(runs) else []
    missing = [title for title, each in zip(titles, runs, strict=True) if not each]
    columns = (*(_join(subset) for subset in _subsets(titles, 1)), _NONE, _ANY)
    right = Block(
        "Share of questions that exactly these parsers have right",
        "parsers",
        columns,
        tuple(_right(columns, rounds)),
        figures_of("agreement"),
        columns_below=True,
    )
    agreeing = [entry for subset in _subsets(titles, 2) for entry in _agreeing(subset, titles, rounds)]
    same = Block("Where parsers give the same answer", "parsers", (_SHARE, _SCORE), tuple(agreeing), {})
    notes = [f"{', '.join(missing)}: not run, so there is nothing to compare."] if missing else []
    return result_of("agreement", settings, right, same, notes=notes)


def _subsets(titles: Sequence[str], smallest: int) -> Iterator[tuple[str, ...]]:
    for size in range(len(titles), smallest - 1, -1):
        yield from combinations(titles, size)


def _join(titles: Sequence[str]) -> str:
    return " + ".join(titles)


def _right(columns: Sequence[str], rounds: Sequence[_Round]) -> Iterator[Entry]:
    """How many questions a subset has right, and all others wrong."""
    by_round = []
    for systems in rounds:
        names = [system.name for system in systems]
        rows = zip(*(system.questions for system in systems), strict=True)
        subsets = [[name for name, question in zip(names, row, strict=True) if value_of(question)] for row in rows]
        by_round.append([_join(subset) or _NONE for subset in subsets])
    for column in columns:
        yield figure("right", column, [[_is_in(column, right) for right in each] for each in by_round])


def _is_in(column: str, right: str) -> float:
    return float(right != _NONE if column == _ANY else right == column)


def _agreeing(subset: Sequence[str], titles: Sequence[str], rounds: Sequence[_Round]) -> tuple[Entry, Entry]:
    """The share of questions on which all give the same answer by LF-EM, and how many of these are right."""
    shares, right = [], []
    for systems in rounds:
        chosen = [system for title, system in zip(titles, systems, strict=True) if title in subset]
        rows = list(zip(*(system.questions for system in chosen), strict=True))
        same = [_give_one_answer(row) for row in rows]
        shares.append([float(each) for each in same])
        right.append([value_of(row[0]) for row, agree in zip(rows, same, strict=True) if agree])
    name = _join(subset)
    return figure(name, _SHARE, shares), figure(name, _SCORE, right)


def _give_one_answer(row: Sequence[QuestionScores]) -> bool:
    forms = {question.results[LF_EM].details.get("prediction_normalized") for question in row}
    return len(forms) == 1 and None not in forms
