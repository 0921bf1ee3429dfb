"""Changes to a decomposition in one place that alter what it computes are seen.

Each kind of change gives the texts of the steps with the change at one place after another. Changes that keep the
meaning, such as exchanging the members of a union, are not made.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from qdecomp.data_structures.conversion.qdmr_to_lf import to_logical_step
from qdecomp.data_structures.errors import QDecompError
from qdecomp.data_structures.lexicon import stop_words
from qdecomp.data_structures.lf_em import lf_em
from qdecomp.data_structures.logical_form import LogicalStep
from qdecomp.data_structures.operators import OPERATORS, Operator
from qdecomp.data_structures.qdmr import Qdmr, parse_qdmr
from qdecomp.evaluation.metrics.lf_eq import lf_eq
from qdecomp.files import read_break_csv

OTHER_WORDS = ("giraffe", "violin", "marble", "harbour", "pepper")
# Words that compute something else if one stands for the other.
OPPOSITES = {"highest": "lowest", "largest": "smallest", "longest": "shortest", "more": "less", "number": "sum"}
OPPOSITES |= {other: one for one, other in OPPOSITES.items()}
SYMMETRIC = {Operator.UNION, Operator.INTERSECTION, Operator.COMPARISON, Operator.BOOLEAN, Operator.ARITHMETIC}


def leave_out(steps: Sequence[str], logical: Sequence[LogicalStep]) -> Iterator[list[str]]:
    """A step is removed; what referred to it refers to the first step that it referred to, or to nothing."""
    for gone in range(1, len(steps) + 1):
        users = {each.operator for each, text in zip(logical, steps, strict=True) if f"#{gone}" in text.split()}
        # There, sets count anyway.
        if logical[gone - 1].properties == ("count",) and users == {Operator.ARITHMETIC}:
            continue
        numbers = {f"#{number}": f"#{number - (number > gone)}" for number in range(1, len(steps) + 1)}
        numbers[f"#{gone}"] = next(iter(re.findall(r"#\d+", steps[gone - 1])), "")
        yield [_replaced(step, numbers) for number, step in enumerate(steps, start=1) if number != gone]


def swap_references(steps: Sequence[str], logical: Sequence[LogicalStep]) -> Iterator[list[str]]:
    for place, step in enumerate(steps):
        found = list(dict.fromkeys(re.findall(r"#\d+", step)))
        if len(found) == 2 and logical[place].operator not in SYMMETRIC:
            yield _with(steps, place, _replaced(step, dict(zip(found, reversed(found), strict=True))))


def change_property(steps: Sequence[str], logical: Sequence[LogicalStep]) -> Iterator[list[str]]:
    for place, step in enumerate(steps):
        if logical[place].properties:
            yield _with(steps, place, _replaced(step, OPPOSITES))


def change_operator(steps: Sequence[str], logical: Sequence[LogicalStep]) -> Iterator[list[str]]:
    """A group loses its key, a union becomes an intersection."""
    for place, step in enumerate(steps):
        if logical[place].operator is Operator.GROUP:
            yield _with(steps, place, re.sub(r" for each #\d+", "", step))
        elif logical[place].operator is Operator.UNION:
            yield _with(steps, place, f"things in both {' and '.join(re.findall(r'#[0-9]+', step))}")


def negate(steps: Sequence[str], logical: Sequence[LogicalStep]) -> Iterator[list[str]]:
    for place, step in enumerate(steps):
        if " not " in step:
            yield _with(steps, place, step.replace(" not ", " "))
        elif logical[place].operator is Operator.FILTER:
            reference, _, condition = step.partition(" ")
            yield _with(steps, place, f"{reference} that are not {condition.removeprefix('that are ')}")


def exchange_word(steps: Sequence[str], logical: Sequence[LogicalStep]) -> Iterator[list[str]]:
    """A content word is replaced; next to references that say everything, words do not count."""
    used = set(re.findall(r"#\d+", " ".join(steps)))
    for place, step in enumerate(steps):
        if OPERATORS[logical[place].operator].describes and (len(steps) == 1 or f"#{place + 1}" in used or "#" in step):
            for word in step.split():
                if word.isalpha() and word.lower() not in stop_words():
                    yield _with(steps, place, _replaced(step, {word: OTHER_WORDS[len(word) % len(OTHER_WORDS)]}))


def _replaced(step: str, tokens: dict[str, str]) -> str:
    return " ".join(tokens.get(token, token) for token in step.split())


def _with(steps: Sequence[str], place: int, step: str) -> list[str]:
    return [*steps[:place], step, *steps[place + 1 :]]


Change = Callable[[Sequence[str], Sequence[LogicalStep]], Iterator[list[str]]]
CHANGES: tuple[Change, ...] = (leave_out, swap_references, change_property, change_operator, negate, exchange_word)


def changed(decomposition: Qdmr, change: Change) -> list[Qdmr]:
    """The decompositions that a kind of change makes."""
    found = []
    for steps in change([step.text for step in decomposition.steps], list(map(to_logical_step, decomposition.steps))):
        try:
            found.append(parse_qdmr(" ;".join(steps)))
        except QDecompError:
            continue
    return [each for each in found if each != decomposition]


@pytest.mark.parametrize(
    ("change", "before", "after"),
    [
        (leave_out, "dogs ;#1 that are old ;number of #2", "dogs ;number of #1"),
        (swap_references, "dogs ;cats ;#1 near #2", "dogs ;cats ;#2 near #1"),
        (swap_references, "dogs ;cats ;#1 , #2", None),
        (change_property, "dogs ;highest of #1", "dogs ;lowest of #1"),
        (change_operator, "dogs ;cats of #1 ;number of #2 for each #1", "dogs ;cats of #1 ;number of #2"),
        (negate, "dogs ;#1 that are not old", "dogs ;#1 that are old"),
        (exchange_word, "dogs", "pepper"),
    ],
)
def test_kinds_of_change(change: Change, before: str, after: str | None) -> None:
    found = changed(parse_qdmr(before), change)
    assert parse_qdmr(after) in found if after else not found


def test_changes_of_the_sample_set_are_seen(project_root: Path) -> None:
    generator, total, missed = random.Random(19), 0, []
    for example in read_break_csv(project_root / "data" / "train.csv"):
        gold = parse_qdmr(example.decomposition or "")
        for change in CHANGES:
            for other in generator.sample(found := changed(gold, change), min(1, len(found))):
                # What the merging rules of the paper join is no change of meaning.
                if not lf_em(example.question, other, gold).verdict:
                    total += 1
                    if lf_eq(example.question, other, gold).verdict:
                        missed.append(f"{change.__name__}: {gold} -> {other}")
    assert total > 1000
    assert len(missed) <= 0.005 * total, missed
