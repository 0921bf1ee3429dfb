"""The questions in data/asked_*.csv: every decomposition means something, and no question is like one to test on."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from math import ceil
from pathlib import Path

from qdecomp import to_logical_form
from qdecomp.data_structures.qdmr import parse_qdmr
from qdecomp.files import BreakExample, read_break_csv
from qdecomp.planning.checks import PLAN_CHECKS, plan_warnings

_DATA = Path(__file__).resolve().parents[1] / "data"
_TRAIN, _DEV, _EVERYDAY, _ENGINEERS = (
    read_break_csv(_DATA / name) for name in ("asked_train.csv", "asked_dev.csv", "everyday.csv", "engineers.csv")
)
_BOTH = (*_TRAIN, *_DEV)
_TESTS = (*_EVERYDAY, *_ENGINEERS)


def words(example: BreakExample) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", example.question.lower()))


def alike(first: Sequence[BreakExample], second: Sequence[BreakExample], share: float) -> list[tuple[str, str]]:
    """The pairs of questions that have at least a share of their words in common."""
    frequency = Counter(word for example in (*first, *second) for word in words(example))

    def rarest(found: frozenset[str]) -> list[str]:
        """The rarest words: questions that are alike have one of these in common."""
        ordered = sorted(found, key=lambda word: (frequency[word], word))
        return ordered[: len(found) - ceil(share * len(found)) + 1]

    others: dict[str, list[tuple[str, frozenset[str]]]] = defaultdict(list)
    for example in second:
        for word in rarest(words(example)):
            others[word].append((example.question, words(example)))
    return [
        (example.question, other)
        for example in first
        for of_one in [words(example)]
        for word in rarest(of_one)
        for other, of_other in others[word]
        if len(of_one & of_other) >= share * len(of_one | of_other)
    ]


def test_no_question_comes_twice_and_every_source_has_rows_to_measure_on() -> None:
    assert len({example.question.lower() for example in _BOTH}) == len(_BOTH)
    assert len({example.question_id for example in _BOTH}) == len(_BOTH)
    assert {example.source for example in _TRAIN} == {example.source for example in _DEV}
    assert {example.split for example in _TRAIN} == {"train"}
    assert {example.split for example in _DEV} == {"dev"}


def test_no_question_is_like_one_to_test_on() -> None:
    assert alike(_BOTH, _TESTS, 0.6) == []


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
    texts = [(example.question, re.findall(r"\w+", example.question.lower())) for example in second]
    found = []
    for example in first:
        of_one = re.findall(r"\w+", example.question.lower())
        known = frozenset(of_one)
        for other, of_other in texts:
            least = share * max(len(of_one), len(of_other))
            if len(known.intersection(of_other)) >= least - 2 and in_order(of_one, of_other) >= least:
                found.append((example.question, other))
    return found


def test_no_question_is_the_twin_of_one_to_test_on() -> None:
    assert twins(_BOTH, _TESTS, 0.7) == []


def test_no_question_to_measure_on_is_like_one_to_train_on() -> None:
    assert alike(_DEV, _TRAIN, 0.8) == []


def test_the_operators_are_those_that_the_steps_are_read_as() -> None:
    for example in (*_BOTH, *_ENGINEERS):
        steps = to_logical_form(example.decomposition or "").steps
        assert [step.operator.value for step in steps] == list(example.operators), example.question_id


def test_no_decomposition_makes_nonsense() -> None:
    # Of the question's meaning, an abbreviated step may leave out something.
    losses = {
        "lost word",
        "lost negation",
        "lost group",
        "lost median",
        "lost superlative",
        "lost share",
        "other answer",
    }
    checks = [check for name, check in PLAN_CHECKS.items() if name not in losses]

    def failed(example: BreakExample) -> tuple[str, ...]:
        return plan_warnings(example.question, parse_qdmr(example.decomposition or ""), checks)

    assert [example.question_id for example in (*_BOTH, *_ENGINEERS) if failed(example)] == []
