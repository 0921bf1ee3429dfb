"""Training rows from templates: each is a valid decomposition of its question, and none is in the everyday test set."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from qdecomp.data_structures.conversion.qdmr_to_lf import to_logical_form
from qdecomp.decomposition import Decomposition
from qdecomp.files import BreakExample, read_break_csv

ROOT = Path(__file__).resolve().parents[2]
KINDS = {"CHOSEN", "COMPARED", "DATED", "TWOFOLD", "YESNO"}


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts" / "fill_templates.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[BreakExample]:
    path = tmp_path_factory.mktemp("templates") / "rows.csv"
    result = run("--output", path)
    assert result.returncode == 0, result.stderr
    return list(read_break_csv(path))


def words(question: str) -> set[str]:
    return set(re.findall(r"\w+", question.lower()))


def test_every_kind_has_different_questions(rows: list[BreakExample]) -> None:
    assert {row.source for row in rows} == KINDS
    assert len({row.question for row in rows}) == len(rows) > 1_000
    assert not any("{" in row.question + (row.decomposition or "") for row in rows)


def test_the_operators_are_those_that_the_steps_are_read_as(rows: list[BreakExample]) -> None:
    for row in rows:
        steps = to_logical_form(row.decomposition or "").steps
        assert [step.operator.value for step in steps] == list(row.operators), row


def test_no_row_makes_nonsense(rows: list[BreakExample]) -> None:
    warned = {row.question for row in rows if Decomposition.of_text(row.question, row.decomposition or "").warnings}
    assert warned == set()


def test_no_row_is_like_an_everyday_question(rows: list[BreakExample]) -> None:
    everyday = [words(row.question) for row in read_break_csv(ROOT / "data" / "everyday.csv")]
    for row in rows:
        of_row = words(row.question)
        assert all(len(of_row & other) < 0.75 * len(of_row | other) for other in everyday), row.question


def test_the_same_seed_gives_the_same_rows_of_the_kinds_that_are_named(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.csv" for number in range(3)]
    for path, seed in zip(paths, (1, 1, 2), strict=True):
        options = ("--kind", "dated", "--rows-per-shape", 5, "--seed", seed)
        assert run("--output", path, *options).returncode == 0
    first, again, other = (path.read_text(encoding="utf-8") for path in paths)
    assert first == again != other
    assert {row.source for row in read_break_csv(paths[0])} == {"DATED"}


def test_an_unknown_kind_is_named(tmp_path: Path) -> None:
    result = run("--output", tmp_path / "rows.csv", "--kind", "compare")
    assert result.returncode == 2
    assert "there is no kind 'compare'; there are chosen, compared, dated, twofold, yesno" in result.stderr
