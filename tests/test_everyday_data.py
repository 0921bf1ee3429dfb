"""The everyday questions in data/: every decomposition has a logical form that the published metric can read."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from qdecomp import lf_em, parse_qdmr, to_logical_form
from qdecomp.files import BreakExample, read_break_csv, source_of

_ROWS = read_break_csv(Path(__file__).resolve().parents[1] / "data" / "everyday.csv")
_KINDS = {"COMPARISON", "MULTIHOP", "TABLE", "DATE", "YES-NO", "NEGATION", "REQUEST", "DOUBLE", "TYPO"}


def test_all_kinds_are_there_and_no_question_twice() -> None:
    assert len({row.question.lower() for row in _ROWS}) == len(_ROWS) >= 150
    assert set(Counter(source_of(row.question_id) for row in _ROWS)) == _KINDS


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row.question_id)
def test_a_decomposition_is_equal_to_itself_and_uses_all_its_steps(row: BreakExample) -> None:
    assert row.decomposition is not None
    steps = parse_qdmr(row.decomposition).steps
    used = {number for step in steps for number in step.references}
    assert used == set(range(1, len(steps)))
    assert lf_em(row.question, row.decomposition, row.decomposition).verdict
    assert len(to_logical_form(row.decomposition).steps) == len(steps)
