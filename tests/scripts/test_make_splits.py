"""Splits of Break's rows: nested, stratified, and the same on every run."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from qdecomp.files import BreakExample, read_break_csv


def run(project_root: Path, *arguments: object, script: str = "make_splits") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(project_root / "scripts" / f"{script}.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def ids(path: Path) -> list[str]:
    return [example.question_id for example in read_break_csv(path)]


def sources(examples: list[BreakExample]) -> Counter[str]:
    return Counter(example.source for example in examples)


def test_subsets_are_nested_and_keep_the_shares_of_sources(project_root: Path, tmp_path: Path) -> None:
    train = project_root / "data" / "train.csv"
    result = run(project_root, "subsets", "--input", train, "--output", tmp_path)
    assert result.returncode == 0, result.stderr
    rows = [ids(tmp_path / f"train_{percentage}.csv") for percentage in (1, 5, 10, 20, 50, 100)]
    for smaller, larger in pairwise(rows):
        assert set(smaller) < set(larger)
    assert rows[-1] == ids(train)
    whole, half = sources(read_break_csv(train)), sources(read_break_csv(tmp_path / "train_50.csv"))
    assert all(abs(half[source] - count / 2) <= 1 for source, count in whole.items())
    assert set(sources(read_break_csv(tmp_path / "train_1.csv"))) == set(whole)


def test_another_seed_gives_other_rows_and_the_same_seed_the_same(project_root: Path, tmp_path: Path) -> None:
    for name, seed in (("first", 1), ("again", 1), ("other", 2)):
        arguments = ("--input", project_root / "data" / "train.csv", "--output", tmp_path / name, "--seed", seed)
        assert run(project_root, "subsets", *arguments).returncode == 0
    first, again, other = ((tmp_path / name / "train_20.csv").read_bytes() for name in ("first", "again", "other"))
    assert first == again != other


def test_leaving_a_source_out(project_root: Path, tmp_path: Path) -> None:
    train = project_root / "data" / "train.csv"
    result = run(project_root, "leave-one-out", "--input", train, "--output", tmp_path, "--source", "DROP")
    assert result.returncode == 0, result.stderr
    kept, left_out = (read_break_csv(tmp_path / "DROP" / name) for name in ("train.csv", "left_out.csv"))
    assert set(sources(left_out)) == {"DROP"}
    assert sources(kept) + sources(left_out) == sources(read_break_csv(train))
    assert "DROP" not in sources(kept)


def test_a_source_that_the_file_lacks_is_one_line(project_root: Path, tmp_path: Path) -> None:
    arguments = ("--input", project_root / "data" / "train.csv", "--output", tmp_path, "--source", "YELP")
    result = run(project_root, "leave-one-out", *arguments)
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert "has no rows of YELP; it has ACADEMIC, ATIS" in result.stderr
    assert not list(tmp_path.iterdir())


def test_rows_held_out_are_chosen_by_the_words_of_the_question(project_root: Path, tmp_path: Path) -> None:
    rows = ["question_id,question_text,decomposition"]
    for number in range(60):
        rows += [
            f"A_{number},How many cubes and {number} balls?,return cubes",
            f"B_{number},how many cubes and {number} balls,x",
        ]
    source = tmp_path / "rows.csv"
    source.write_text("\n".join(rows) + "\n", encoding="utf-8")
    assert run(project_root, "holdout", "--input", source, "--output", tmp_path, "--one-of", 4).returncode == 0
    fit, held_out = (ids(tmp_path / name) for name in ("fit.csv", "holdout.csv"))
    assert len(fit) + len(held_out) == 120
    assert 10 < len(held_out) < 60
    assert {name[2:] for name in fit}.isdisjoint(name[2:] for name in held_out)


@pytest.mark.parametrize("kind", ["plain", "opened", "misspelled", "joined"])
def test_augmented_questions_have_decompositions_of_their_words(project_root: Path, tmp_path: Path, kind: str) -> None:
    output = tmp_path / "new.csv"
    train = project_root / "data" / "train.csv"
    arguments = ("--input", train, "--output", output, "--share", "1", "--kind", kind)
    result = run(project_root, *arguments, script="augment_questions")
    assert result.returncode == 0, result.stderr
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
