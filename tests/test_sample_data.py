"""The sample set in data/: made by its generator, convertible, complete, and not copied from Break."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from qdecomp.data_structures.conversion.qdmr_to_lf import to_logical_form, to_qdmr
from qdecomp.data_structures.errors import QDecompError
from qdecomp.data_structures.lexicon import property_phrases, stop_words, synonym_classes
from qdecomp.data_structures.lexicon.inflections import variants
from qdecomp.data_structures.logical_form import LogicalForm, parse_logical_form
from qdecomp.data_structures.operators import OPERATORS
from qdecomp.data_structures.qdmr import is_reference, parse_qdmr
from qdecomp.files import BreakExample, read_break_csv

_ROOT = Path(__file__).resolve().parents[1]
_DATA = _ROOT / "data"
_SPLITS = ("train", "dev")
_SOURCES = {"ATIS", "GEO", "SPIDER", "ACADEMIC", "CLEVR", "NLVR2", "DROP", "COMQA", "CWQ"}
_LABELS = [
    *((operator.value, None) for operator in OPERATORS),
    *((operator.value, name) for operator, signature in OPERATORS.items() for name in signature.properties),
]
# What the constant lexicon of Break offers besides the words of the word lists.
_OPERATOR_WORDS = frozenset(("for", "each", "sorted", "by", "100"))
_RESOURCE_WORDS = frozenset(("height", "population", "size", "elevation", "flights", "objects", "price", "date"))
_WRITTEN_BY_HAND = frozenset(
    ("README.md", "asked_dev.csv", "asked_train.csv", "engineers.csv", "everyday.csv", "questions.txt", "readings")
)
# Rows of broken.csv that have no decomposition at all, or one whose references mean nothing.
_REFUSED = {
    "empty_decomposition",
    "blank_decomposition",
    "only_semicolons",
    "only_return",
    "only_returns",
    "only_an_id",
    "no_decomposition_column",
    "list_decomposition",
    "self_reference",
    "circle",
    "reference_to_nothing",
    "reference_to_zero",
    "huge_reference",
    "long_chain",
    "long_step",
    "long_word_step",
}


@cache
def _rows(name: str) -> tuple[BreakExample, ...]:
    return tuple(read_break_csv(_DATA / f"{name}.csv"))


def _convert(row: BreakExample) -> LogicalForm:
    return to_logical_form(parse_qdmr(row.decomposition or ""))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _normalized(questions: Iterable[str]) -> list[str]:
    return [" ".join(_words(question)) for question in questions]


def _fault(row: BreakExample) -> str:
    return row.question_id.removeprefix("BROKEN_sample_")


def _all_questions() -> list[str]:
    questions = [row.question for split in _SPLITS for row in _rows(split)]
    return questions + (_DATA / "questions.txt").read_text(encoding="utf-8").splitlines()


def test_the_generator_writes_the_same_bytes(tmp_path: Path) -> None:
    script = _ROOT / "scripts" / "make_sample_data.py"
    subprocess.run([sys.executable, str(script), "--output", str(tmp_path)], check=True, cwd=_ROOT)
    written = sorted(path.name for path in tmp_path.iterdir())
    assert written == sorted(path.name for path in _DATA.iterdir() if path.name not in _WRITTEN_BY_HAND)
    for name in written:
        assert (tmp_path / name).read_bytes() == (_DATA / name).read_bytes(), name


def test_it_is_large_enough_and_shows_every_source_and_length() -> None:
    assert sum(len(_rows(split)) for split in _SPLITS) >= 300
    for split in _SPLITS:
        assert {row.source for row in _rows(split)} == _SOURCES
        assert {len(_convert(row)) for row in _rows(split)} == set(range(1, 11))


def test_the_readme_gives_the_true_counts() -> None:
    text = (_DATA / "README.md").read_text(encoding="utf-8")
    for name in (*_SPLITS, "broken"):
        assert f"| `{name}.csv` | {len(_rows(name))} |" in text
    counts = {split: Counter(row.source for row in _rows(split)) for split in _SPLITS}
    for source in _SOURCES:
        assert re.search(rf"^\| {source} \|.*\| {counts['train'][source]} \| {counts['dev'][source]} \|$", text, re.M)


@pytest.mark.parametrize("split", _SPLITS)
def test_every_row_converts_to_the_operators_that_it_names_and_comes_back(split: str) -> None:
    for row in _rows(split):
        form = _convert(row)
        assert tuple(step.operator.value for step in form.steps) == row.operators, row.question_id
        assert not any(step.approximate for step in form.steps), row.question_id
        assert to_logical_form(to_qdmr(form)) == form, row.question_id
        assert parse_logical_form(str(form)) == form, row.question_id


@pytest.mark.parametrize(("split", "fewest"), [("train", 3), ("dev", 1)])
def test_all_operators_and_properties_occur(split: str, fewest: int) -> None:
    seen: Counter[tuple[str, str | None]] = Counter()
    for row in _rows(split):
        for step in _convert(row).steps:
            seen.update((step.operator.value, name) for name in (None, *step.properties))
    assert [label for label in _LABELS if seen[label] < fewest] == []


def test_ids_and_questions_are_unique() -> None:
    ids = [row.question_id for split in _SPLITS for row in _rows(split)]
    assert [name for name, count in Counter(ids).items() if count > 1] == []
    assert all(re.fullmatch(r"[A-Z0-9]+_sample_[1-9][0-9]*", name) for name in ids)
    questions = _normalized(_all_questions())
    assert [question for question, count in Counter(questions).items() if count > 1] == []


def test_steps_use_the_words_of_the_question_and_of_the_lexicon() -> None:
    phrases = (phrase for operator in OPERATORS for row in property_phrases(operator) for phrase in row.phrases)
    constant = stop_words() | _OPERATOR_WORDS | {word for phrase in phrases for word in phrase}
    constant = constant.union(*synonym_classes())
    for row in (row for split in _SPLITS for row in _rows(split)):
        known = constant.union(*(variants(word) for word in (*_words(row.question), *_RESOURCE_WORDS)))
        tokens = (token for step in parse_qdmr(row.decomposition or "").steps for token in step.tokens)
        used = {word for token in tokens if not is_reference(token) for word in _words(token)}
        assert used <= known, row.question_id


def test_no_question_is_taken_from_break(shared_path: Path) -> None:
    official = {
        question
        for split in _SPLITS
        for question in _normalized(row.question for row in read_break_csv(shared_path / "break" / f"{split}.csv"))
    }
    assert official
    assert official.isdisjoint(_normalized(_all_questions()))


@pytest.mark.parametrize("row", _rows("broken"), ids=_fault)
def test_a_broken_row_gives_a_value_or_an_error_of_ours(row: BreakExample) -> None:
    if row.error is not None:
        # The reader refuses it.
        assert _fault(row) == "too_many_columns"
    elif _fault(row) in _REFUSED:
        with pytest.raises(QDecompError):
            _convert(row)
    else:
        form = _convert(row)
        assert len(to_qdmr(form)) == len(form)
