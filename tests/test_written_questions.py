"""The questions in data/ that people wrote: every decomposition means something, and none is there twice."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from math import ceil
from pathlib import Path

import pytest

from qdecomp import lf_em, to_logical_form
from qdecomp.data_structures.qdmr import parse_qdmr
from qdecomp.files import BreakExample, read_break_csv
from qdecomp.planning.checks import PLAN_CHECKS, plan_warnings

_TRAIN, _DEV, _EVERYDAY, _ENGINEERS = (
    read_break_csv(Path(__file__).resolve().parents[1] / "data" / f"{name}.csv")
    for name in ("asked_train", "asked_dev", "everyday", "engineers")
)
_BOTH = (*_TRAIN, *_DEV)
_TESTS = (*_EVERYDAY, *_ENGINEERS)
_KINDS = {"COMPARISON", "MULTIHOP", "TABLE", "DATE", "YES-NO", "NEGATION", "REQUEST", "DOUBLE", "TYPO"}
# What a decomposition may leave out of a question's meaning, in an abbreviated step.
_LOSSES = ("lost word", "lost negation", "lost group", "lost median", "lost superlative", "lost share", "other answer")


def words(example: BreakExample) -> list[str]:
    return re.findall(r"\w+", example.question.lower())


def alike(first: Sequence[BreakExample], second: Sequence[BreakExample], share: float) -> list[tuple[str, str]]:
    """The pairs of questions that have at least a share of their words in common."""
    ours, theirs = ([(each.question, frozenset(words(each))) for each in examples] for examples in (first, second))
    frequency = Counter(word for _, found in (*ours, *theirs) for word in found)

    def rarest(found: frozenset[str]) -> list[str]:
        """The rarest words: questions that are alike have one of these in common."""
        ordered = sorted(found, key=lambda word: (frequency[word], word))
        return ordered[: len(found) - ceil(share * len(found)) + 1]

    others: dict[str, list[tuple[str, frozenset[str]]]] = defaultdict(list)
    for question, found in theirs:
        for word in rarest(found):
            others[word].append((question, found))
    return [
        (question, other)
        for question, found in ours
        for word in rarest(found)
        for other, of_other in others[word]
        if len(found & of_other) >= share * len(found | of_other)
    ]


def in_order(first: Sequence[str], second: Sequence[str]) -> int:
    """How many words two questions have in common in the same order: their longest common subsequence."""
    row = [0] * (len(second) + 1)
    for word in first:
        before = row
        row = [0]
        for place, other in enumerate(second):
            row.append(before[place] + 1 if word == other else max(before[place + 1], row[-1]))
    return row[-1]


def twins(first: Sequence[BreakExample], second: Sequence[BreakExample], share: float) -> list[tuple[str, str]]:
    """The pairs of questions that have at least a share of their words in common, in the same order."""
    texts = [(example.question, words(example)) for example in second]
    found = []
    for example in first:
        of_one = words(example)
        known = frozenset(of_one)
        for other, of_other in texts:
            least = share * max(len(of_one), len(of_other))
            if len(known.intersection(of_other)) >= least - 2 and in_order(of_one, of_other) >= least:
                found.append((example.question, other))
    return found


def test_no_question_comes_twice_and_every_source_has_rows_to_measure_on() -> None:
    for rows in (_BOTH, _EVERYDAY):
        assert len({row.question.lower() for row in rows}) == len({row.question_id for row in rows}) == len(rows) >= 150
    assert {row.source for row in _TRAIN} == {row.source for row in _DEV}
    assert [{row.split for row in rows} for rows in (_TRAIN, _DEV)] == [{"train"}, {"dev"}]
    assert {row.source for row in _EVERYDAY} == _KINDS


def test_no_question_is_like_one_to_test_on() -> None:
    assert alike(_BOTH, _TESTS, 0.6) == []
    assert twins(_BOTH, _TESTS, 0.7) == []
    assert alike(_DEV, _TRAIN, 0.8) == []


def test_the_operators_are_those_that_the_steps_are_read_as() -> None:
    for row in (*_BOTH, *_ENGINEERS):
        steps = to_logical_form(row.decomposition or "").steps
        assert [step.operator.value for step in steps] == list(row.operators), row.question_id


def test_no_decomposition_makes_nonsense() -> None:
    checks = [check for name, check in PLAN_CHECKS.items() if name not in _LOSSES]
    for row in (*_BOTH, *_ENGINEERS):
        assert not plan_warnings(row.question, parse_qdmr(row.decomposition or ""), checks), row.question_id


@pytest.mark.parametrize("row", _EVERYDAY, ids=lambda row: row.question_id)
def test_an_everyday_decomposition_is_equal_to_itself_and_uses_all_its_steps(row: BreakExample) -> None:
    assert row.decomposition is not None
    steps = parse_qdmr(row.decomposition).steps
    used = {number for step in steps for number in step.references}
    assert used == set(range(1, len(steps)))
    assert lf_em(row.question, row.decomposition, row.decomposition).verdict
    assert len(to_logical_form(row.decomposition).steps) == len(steps)
