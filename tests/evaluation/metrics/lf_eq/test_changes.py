from __future__ import annotations

import random
from pathlib import Path

import pytest

from qdecomp.data_structures.lf_em import lf_em
from qdecomp.data_structures.qdmr import Qdmr, parse_qdmr
from qdecomp.evaluation.metrics.lf_eq import lf_eq
from qdecomp.files import read_break_csv
from tests.evaluation.metrics.lf_eq.changes import CHANGES, changes

_WORDS = ("giraffe", "violin", "marble", "harbour", "pepper")


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        ("a step left out", "dogs ;#1 that are old ;number of #2", "dogs ;number of #1"),
        ("references swapped", "dogs ;cats ;#1 near #2", "dogs ;cats ;#2 near #1"),
        ("another property", "dogs ;highest of #1", "dogs ;lowest of #1"),
        ("another operator", "dogs ;cats of #1 ;number of #2 for each #1", "dogs ;cats of #1 ;number of #2"),
        ("a negation added or dropped", "dogs ;#1 that are not old", "dogs ;#1 that are old"),
    ],
)
def test_kinds_of_change(kind: str, before: str, after: str) -> None:
    steps = [Qdmr(tuple(each)) for each in CHANGES[kind](parse_qdmr(before), _WORDS, random.Random(0))]
    assert parse_qdmr(after) in steps


def test_members_of_a_union_are_not_swapped() -> None:
    for text in ("dogs ;cats ;#1 , #2", "dogs ;cats ;number of #1 ;number of #2 ;sum of #3 and #4"):
        assert not list(CHANGES["references swapped"](parse_qdmr(text), _WORDS, random.Random(0)))


def test_changes_of_the_sample_set_are_seen(project_root: Path) -> None:
    generator = random.Random(19)
    missed: list[str] = []
    total = 0
    for example in read_break_csv(project_root / "data" / "train.csv"):
        assert example.decomposition is not None
        gold = parse_qdmr(example.decomposition)
        for change in changes(gold, _WORDS, generator):
            # What the merging rules of the paper join is no change of meaning, and a reference may often be another
            # without one: the attribute of all things serves for some of them.
            if change.kind == "another reference" or lf_em(example.question, change.decomposition, gold).verdict:
                continue
            total += 1
            if lf_eq(example.question, change.decomposition, gold).verdict:
                missed.append(f"{change.kind}: {gold} -> {change.decomposition}")
    assert total > 1000
    assert len(missed) <= 0.005 * total, missed
