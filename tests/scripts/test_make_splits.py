"""Splits of Break's rows: nested, stratified, and the same on every run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import Result

from qdecomp.data_structures.errors import DataError
from qdecomp.files import BreakExample, read_break_csv

Run = Callable[..., Result]


@pytest.fixture
def train(project_root: Path) -> Path:
    return project_root / "data" / "train.csv"


def ids(path: Path) -> list[str]:
    return [example.question_id for example in read_break_csv(path)]


def sources(examples: list[BreakExample]) -> Counter[str]:
    return Counter(example.source for example in examples)


def test_subsets_are_nested_and_keep_the_shares_of_sources(run: Run, train: Path, tmp_path: Path) -> None:
    run("make_splits", "subsets", "--input", train, "--output", tmp_path)
    rows = [ids(tmp_path / f"train_{percentage}.csv") for percentage in (1, 5, 10, 20, 50, 100)]
    for smaller, larger in pairwise(rows):
        assert set(smaller) < set(larger)
    assert rows[-1] == ids(train)
    whole, half = sources(read_break_csv(train)), sources(read_break_csv(tmp_path / "train_50.csv"))
    assert all(abs(half[source] - count / 2) <= 1 for source, count in whole.items())
    assert set(sources(read_break_csv(tmp_path / "train_1.csv"))) == set(whole)


def test_another_seed_gives_other_rows_and_the_same_seed_the_same(run: Run, train: Path, tmp_path: Path) -> None:
    for name, seed in (("first", 1), ("again", 1), ("other", 2)):
        run("make_splits", "subsets", "--input", train, "--output", tmp_path / name, "--seed", seed)
    first, again, other = ((tmp_path / name / "train_20.csv").read_bytes() for name in ("first", "again", "other"))
    assert first == again != other


def test_leaving_a_source_out(run: Run, train: Path, tmp_path: Path) -> None:
    run("make_splits", "leave-one-out", "--input", train, "--output", tmp_path, "--source", "DROP")
    kept, left_out = (read_break_csv(tmp_path / "DROP" / name) for name in ("train.csv", "left_out.csv"))
    assert set(sources(left_out)) == {"DROP"}
    assert sources(kept) + sources(left_out) == sources(read_break_csv(train))
    assert "DROP" not in sources(kept)


def test_a_source_that_the_file_lacks_is_named(run: Run, train: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has no rows of YELP; it has ACADEMIC, ATIS"):
        run("make_splits", "leave-one-out", "--input", train, "--output", tmp_path, "--source", "YELP")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("command", "names"),
    [(("holdout", "--one-of", 3), ("fit.csv", "holdout.csv")), (("halves",), ("half_0.csv", "half_1.csv"))],
)
def test_rows_are_on_one_side_by_the_words_of_their_question(
    run: Run, tmp_path: Path, command: tuple[object, ...], names: tuple[str, str]
) -> None:
    forms = ("A_{0},How many cubes and {0} balls?,return cubes\n", "B_{0},how many cubes and {0} balls,x\n")
    source = tmp_path / "rows.csv"
    rows = (form.format(number) for number in range(60) for form in forms)
    source.write_text("".join(["question_id,question_text,decomposition\n", *rows]), encoding="utf-8")
    run("make_splits", *command, "--input", source, "--output", tmp_path)
    one, other = (ids(tmp_path / name) for name in names)
    assert len(one) + len(other) == 120
    assert min(len(one), len(other)) > 10
    assert {name[2:] for name in one}.isdisjoint(name[2:] for name in other)


@pytest.mark.parametrize("kind", ["plain", "opened", "misspelled", "joined"])
def test_augmented_questions_have_decompositions_of_their_words(
    run: Run, train: Path, tmp_path: Path, kind: str
) -> None:
    output = tmp_path / "new.csv"
    run("augment_questions", "--input", train, "--output", output, "--share", 1, "--kind", kind)
    originals = {example.question_id: example for example in read_break_csv(train)}
    rows = read_break_csv(output)
    assert rows
    for row in rows:
        original = originals[row.question_id.removesuffix(f"_{kind}")]
        assert row.question != original.question
        assert row.decomposition is not None
        if kind == "joined":
            assert original.question.rstrip("?.! ").lower() in row.question.lower()
            assert row.decomposition.count("#") > (original.decomposition or "").count("#")
        elif kind == "opened":
            assert row.question.lower().endswith(original.question.lower())
            assert row.decomposition == original.decomposition
        elif kind == "plain":
            assert row.question == row.question.lower()
            assert "?" not in row.question
